import Storage

/// Tasks that repeat until the daemon stops: housekeeping, backups, alerts, presence, memory, the certificate.
struct PeriodicTasks {
  private var tasks: [Task<Void, Never>] = []

  /// Repeats `work`, at once or first after the interval.
  mutating func add(
    every interval: Duration, isDelayed: Bool = false, on executor: SerialQueue? = nil,
    _ work: @escaping @Sendable () async -> Void
  ) {
    tasks.append(
      Task(executorPreference: executor) {
        if isDelayed { try? await Task.sleep(for: interval) }
        while !Task.isCancelled {
          await work()
          // Cancellation ends the sleep with an error; the loop condition tests it.
          try? await Task.sleep(for: interval)
        }
      })
  }

  /// Cancels all tasks and waits until they have ended.
  func stop() async {
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}
