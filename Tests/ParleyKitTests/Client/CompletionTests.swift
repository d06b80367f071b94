import Foundation
import Synchronization
import Testing

@testable import ParleyKit

@Suite struct CompletionTests {
  @Test func `a closure receives the cached value, then the fresh value`() async throws {
    let received = Mutex<[String]>([])
    let (shown, show) = AsyncStream.makeStream(of: Void.self)
    let answers = CachedThenFresh(
      cached: { "cached" },
      fresh: {
        for await _ in shown { break }
        return "new"
      })
    await answers.fresh { value in
      received.withLock { $0.append(value) }
      show.yield()
    } then: { result in
      received.withLock { $0.append((try? result.get()) ?? "failure") }
    }.value
    #expect(received.withLock { $0 } == ["cached", "new"])
    #expect(try await CachedThenFresh(cached: { "cached" }, fresh: { "new" }).fresh() == "new")
  }
}
