import Foundation
import Synchronization

/// One thread on which everything of a schedule runs, first come, first served: the server's loop, the clients' actors and
/// whatever they start. So it is known when nothing is left to do, and the same seed does the same. Only the store has threads
/// of its own, and whoever asks it waits here for the answer.
final class Lane: SerialExecutor {
  enum Job {
    /// The loop's.
    case own(UnownedJob)
    case global(UnownedJob)
  }

  private struct Jobs {
    var waiting: [Job] = []
    var next = 0
    /// Goes on when nothing else is left to do.
    var patient: CheckedContinuation<Void, Never>?
    var isOver = false

    mutating func take() -> Job? {
      guard next < waiting.count else {
        waiting.removeAll(keepingCapacity: true)
        next = 0
        return nil
      }
      defer { next += 1 }
      return waiting[next]
    }
  }

  private let jobs = Mutex(Jobs())
  private let bell = DispatchSemaphore(value: 0)

  /// Without a word from the store for so long, so often, nothing will come any more. A machine that stands still uses up one
  /// of them.
  private static let patience: (time: DispatchTimeInterval, times: Int) = (.seconds(10), 30)

  /// Runs it on a lane of its own. Whether it came to its end.
  static func run(_ body: @escaping @Sendable (Lane) async -> Void) async -> Bool {
    guard GlobalJobs.areHooked else { return false }
    return await withCheckedContinuation { done in
      let thread = Thread {
        let isWhole = Lane().run(body)
        done.resume(returning: isWhole)
      }
      thread.stackSize = 16 << 20
      thread.start()
    }
  }

  private func run(_ body: @escaping @Sendable (Lane) async -> Void) -> Bool {
    GlobalJobs.lane = self
    defer { GlobalJobs.lane = nil }
    Task {
      await body(self)
      self.jobs.withLock { $0.isOver = true }
    }
    while true {
      while let job = jobs.withLock({ $0.take() }) {
        switch job {
        case .own(let job): job.runSynchronously(on: asUnownedSerialExecutor())
        case .global(let job): job.runSynchronously(on: GlobalJobs.executor)
        }
      }
      let (patient, isOver) = jobs.withLock { jobs in
        defer { if jobs.next == jobs.waiting.count { jobs.patient = nil } }
        return (jobs.next == jobs.waiting.count ? jobs.patient : nil, jobs.isOver)
      }
      if let patient {
        patient.resume()
      } else if isOver {
        return true
      } else if !hears() {
        return false
      }
    }
  }

  private func hears() -> Bool {
    for _ in 0..<Self.patience.times where bell.wait(timeout: .now() + Self.patience.time) == .success { return true }
    return false
  }

  /// Returns when nothing else is left to do.
  func quiet() async {
    await withCheckedContinuation { continuation in jobs.withLock { $0.patient = continuation } }
  }

  func add(_ job: Job) {
    jobs.withLock { $0.waiting.append(job) }
    bell.signal()
  }

  func enqueue(_ job: consuming ExecutorJob) { add(.own(UnownedJob(job))) }
}
