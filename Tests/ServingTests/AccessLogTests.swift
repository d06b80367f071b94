import Testing

@testable import Serving

@Suite struct AccessLogTests {
  private static let secret = String(repeating: "0aF9", count: 8)

  @Test(arguments: [
    ("/", "/"), ("", ""), ("/api/v1/forums/1042", "/api/v1/forums/1042"), ("/i/deadbeef", "/i/deadbeef"),
    ("/i/\(secret.dropLast())", "/i/\(secret.dropLast())"), ("/i/\(secret)", "/i/0aF9…"),
    ("/i/\(secret)\(secret)/x", "/i/0aF9…/x"), ("\(secret)/a/\(secret)", "0aF9…/a/0aF9…"),
    ("/é/\(secret)é", "/é/0aF9…é"),
  ])
  func `credentials in a path are not logged`(path: String, shown: String) {
    #expect(AccessLog.redactSecrets(path) == shown)
  }
}
