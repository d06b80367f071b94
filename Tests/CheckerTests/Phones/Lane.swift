import Foundation
import Synchronization

/// A thread that runs all jobs of a schedule in FIFO order: the server's event loop, the clients' actors and their
/// tasks. So the end of all work is known, and a seed is reproducible. Only the store has its own threads, and the lane
/// waits for their results.
final class Lane: SerialExecutor {
  enum Job {
    /// A job of the event loop.
    case own(UnownedJob)
    case global(UnownedJob)
  }

  private struct Jobs {
    var waiting: [Job] = []
    var next = 0
    /// Resumed when all other work is done.
    var idleContinuation: CheckedContinuation<Void, Never>?
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
  private let semaphore = DispatchSemaphore(value: 0)

  /// The timeout of one wait for the store, and the number of waits. A stalled machine uses up one wait.
  private static let timeout: (time: DispatchTimeInterval, times: Int) = (.seconds(10), 30)

  /// Runs `body` on a new lane. Returns whether it completed.
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
      let (idleContinuation, isOver) = jobs.withLock { jobs in
        defer { if jobs.next == jobs.waiting.count { jobs.idleContinuation = nil } }
        return (jobs.next == jobs.waiting.count ? jobs.idleContinuation : nil, jobs.isOver)
      }
      if let idleContinuation {
        idleContinuation.resume()
      } else if isOver {
        return true
      } else if !waitForJob() {
        return false
      }
    }
  }

  private func waitForJob() -> Bool {
    for _ in 0..<Self.timeout.times where semaphore.wait(timeout: .now() + Self.timeout.time) == .success {
      return true
    }
    return false
  }

  /// Returns when all other work is done.
  func waitUntilIdle() async {
    await withCheckedContinuation { continuation in jobs.withLock { $0.idleContinuation = continuation } }
  }

  func add(_ job: Job) {
    jobs.withLock { $0.waiting.append(job) }
    semaphore.signal()
  }

  func enqueue(_ job: consuming ExecutorJob) { add(.own(UnownedJob(job))) }
}
