import Dispatch

/// A thread of its own for an actor that blocks: on the disk, or in a long query. The shared pool has as many threads
/// as the machine has cores, and must not wait for either.
public final class SerialQueue: SerialExecutor, TaskExecutor {
  private let queue: DispatchQueue

  public init(_ label: String) {
    queue = DispatchQueue(label: label)
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      unsafe job.runSynchronously(
        isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
    }
  }

  /// Runs work that blocks and needs no state of its own.
  public func run<Value: Sendable, Failure: Error>(
    _ work: @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await withTaskExecutorPreference(self) { () async throws(Failure) -> Value in try work() }
  }
}
