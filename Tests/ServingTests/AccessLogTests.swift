import Glibc
import ParleyWire
import Testing
import Web

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

  @Test(arguments: [
    ("192.0.2.77", "192.0.2.0"), ("2001:db8:1:2::7", "2001:db8:1::"), ("127.0.0.1", "127.0.0.1"), ("::1", "::1"),
  ])
  func `a short address is its network`(address: String, shown: String) throws {
    var ends: [Int32] = [0, 0]
    try #require(unsafe pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let log = AccessLog(.init(format: .text, addresses: .short), descriptor: ends[1])
    let head = RequestHead(method: .get, target: Target(path: "/"), fields: [:])
    func write() {
      log.logRequest(
        head, status: 200, sent: 0, id: RequestID(process: 0, number: 1), client: IPAddress(address), at: 0,
        nanoseconds: 0, isAborted: false)
      log.finish()
    }
    write()
    log.use(.init(format: .text, addresses: .full))
    write()
    log.use(.init(format: nil))
    write()
    var bytes = [UInt8](repeating: 0, count: 1_000)
    let count = unsafe read(ends[0], &bytes, bytes.count)
    let clients = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").map {
      $0.split(separator: " ")[1]
    }
    #expect(clients == [Substring(shown), Substring(address)])
  }

  @Test(arguments: [
    (AccessLog.Format.text, true, "2026-11-20T15:16:41.123Z 192.0.2.7 GET /forums/é 200 1042 0us 0badcafe-1c3\n"),
    (.text, false, "2026-11-20T15:16:41.123Z unix GET /forums/é 200 1042 12us 0badcafe-1c3 cut\n"),
    (
      .json, true,
      """
      {"at":"2026-11-20T15:16:41.123Z","client":"192.0.2.7","method":"GET","path":"/forums/é","status":200,"bytes":1042,\
      "microseconds":0,"request":"0badcafe-1c3"}

      """
    ),
  ])
  func `a request is one line without its query`(format: AccessLog.Format, isComplete: Bool, line: String) throws {
    var ends: [Int32] = [0, 0]
    try #require(unsafe pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let log = AccessLog(.init(format: format), descriptor: ends[1])
    let head = RequestHead(method: .get, target: Target(path: "/forums/é", query: "token=1"), fields: [:])
    log.logRequest(
      head, status: 200, sent: 1042, id: RequestID(process: 0x0bad_cafe, number: 0x1c3),
      client: isComplete ? IPAddress("192.0.2.7") : nil, at: 1_795_187_801_123, nanoseconds: isComplete ? 999 : 12_999,
      isAborted: !isComplete)
    log.finish()
    var bytes = [UInt8](repeating: 0, count: 1_000)
    let count = unsafe read(ends[0], &bytes, bytes.count)
    #expect(String(decoding: bytes.prefix(count), as: UTF8.self) == line)
  }
}
