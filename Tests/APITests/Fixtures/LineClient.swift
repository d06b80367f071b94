import Glibc
import ParleyWire

@testable import ParleyNetworking

/// Reads an endless response line by line. It polls because a blocking read would block the thread of the test.
final class LineClient {
  private let descriptor: Int32
  private var received: [UInt8] = []

  struct NoResponse: Error {}

  init(_ address: SocketAddress, _ path: String, _ fields: Fields) throws {
    let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue), 0)
    self.descriptor = descriptor
    guard address.withSystem({ connect(descriptor, $0, $1) }) == 0 else { throw NoResponse() }
    let head = "GET \(path) HTTP/1.1\r\nHost: a\r\n" + String(decoding: fields.wireBytes, as: UTF8.self) + "\r\n"
    let bytes = Array(head.utf8)
    guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { throw NoResponse() }
  }

  deinit { close(descriptor) }

  /// The next line. Chunk sizes are lines too, and the chunk without bytes ends the response. Its connection stays open.
  func line() async throws -> String {
    let end = ContinuousClock.now + .seconds(100)
    while true {
      if let lineEnd = received.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: received[..<lineEnd], as: UTF8.self)
        received.removeSubrange(...lineEnd)
        guard line != "0\r" else { throw NoResponse() }
        return line.last == "\r" ? String(line.dropLast()) : line
      }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 {
        received.append(contentsOf: buffer[..<count])
      } else if count == 0 || .now > end {
        throw NoResponse()
      } else {
        try await Task.sleep(for: .milliseconds(2))
      }
    }
  }
}
