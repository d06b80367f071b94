import Testing

@testable import API

struct FullDiskTests {
  @Test func `every endpoint that works on a full disk is an endpoint`() {
    let unsafe = Set(API.endpoints.filter { !$0.method.isSafe }.map(\.name))
    #expect(Endpoint.onFullDisk.subtracting(unsafe) == [])
  }
}
