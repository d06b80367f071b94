import Glibc
import ParleyWire

@testable import ParleyNetworking

/// Uploads a file piece by piece over its own socket.
final class UploadingClient {
  private let descriptor: Int32

  struct NoResponse: Error {}

  init(_ address: SocketAddress, token: String, announcing length: Int) throws {
    let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue), 0)
    self.descriptor = descriptor
    guard address.withSystem({ connect(descriptor, $0, $1) }) == 0 else { throw NoResponse() }
    let head = "POST /api/v1/files?name=a HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n"
    try send(Array("\(head)Content-Type: application/octet-stream\r\nContent-Length: \(length)\r\n\r\n".utf8))
  }

  deinit { close(descriptor) }

  /// Stops early if the server closed its side.
  func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// The status of the response.
  func status() async throws -> Int {
    var received: [UInt8] = []
    let end = ContinuousClock.now + .seconds(100)
    while received.count < 12 {
      var buffer = [UInt8](repeating: 0, count: 4_096)
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 {
        received += buffer[..<count]
      } else if count == 0 || .now > end {
        throw NoResponse()
      } else {
        try await Task.sleep(for: .milliseconds(2))
      }
    }
    return Int(String(decoding: received[9..<12], as: UTF8.self)) ?? 0
  }
}
