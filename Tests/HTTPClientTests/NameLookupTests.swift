import ParleyNetworking
import Testing

@testable import ParleyHTTPClient

@Test func `a hanging lookup times out and blocks a bounded number of threads`() async throws {
  let none = NameResolver(maxConcurrent: 0)
  await #expect(throws: NameResolver.Failure.busy) {
    try await none.addresses(of: "x.example", port: 80, within: 1_000_000_000)
  }
  let some = NameResolver(maxConcurrent: 1)
  // The thread returns with the first lookup, so the second can use it.
  for _ in 0..<2 {
    let found = try await some.addresses(of: "127.0.0.1", port: 80, within: 60_000_000_000)
    #expect(found == [SocketAddress("127.0.0.1:80")])
  }
}
