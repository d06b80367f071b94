import Dispatch
import Glibc
import Synchronization

/// A thread whose work gives way to that of other threads: long work for the processor, beside event loops and the writer.
/// Dispatch on Linux has no priorities, and a thread of its pool could not take its own one back.
final class LowPriorityThread: Sendable {
  private let line = Line()

  /// The nice value of the thread: less than half the time of another busy thread. At 10 it would starve on a busy
  /// machine.
  private static let niceness: Int32 = 4

  /// Jobs in order. The thread retains it, so that the owner's end ends the thread.
  private final class Line: Sendable {
    private let jobs = Mutex<[@Sendable () -> Void]>([])
    private let isEnded = Atomic(false)
    private let wake = DispatchSemaphore(value: 0)

    func add(_ job: @escaping @Sendable () -> Void) {
      jobs.withLock { $0.append(job) }
      wake.signal()
    }

    func end() {
      isEnded.store(true, ordering: .releasing)
      wake.signal()
    }

    func run() {
      // The kernel may refuse it; the work is done in any case.
      setpriority(Int32(PRIO_PROCESS.rawValue), 0, LowPriorityThread.niceness)
      while true {
        wake.wait()
        let all = jobs.withLock { jobs in
          defer { jobs = [] }
          return jobs
        }
        for job in all { job() }
        if all.isEmpty, isEnded.load(ordering: .acquiring) { return }
      }
    }
  }

  init() {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(line).toOpaque()
    unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Line>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context)
    pthread_detach(thread)
  }

  deinit { line.end() }

  func async(_ job: @escaping @Sendable () -> Void) { line.add(job) }
}
