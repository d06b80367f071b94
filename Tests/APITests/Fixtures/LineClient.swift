import Glibc
import ParleyWire

@testable import ParleyNetworking

/// An answer without an end, line by line. It asks again instead of blocking the thread it runs on.
final class LineClient {
  private let descriptor: Int32
  private var received: [UInt8] = []

  struct Silence: Error {}

  init(_ address: SocketAddress, _ path: String, _ fields: Fields) throws {
    let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue), 0)
    self.descriptor = descriptor
    guard address.withSystem({ connect(descriptor, $0, $1) }) == 0 else { throw Silence() }
    let head = "GET \(path) HTTP/1.1\r\nHost: a\r\n" + String(decoding: fields.wireBytes, as: UTF8.self) + "\r\n"
    let bytes = Array(head.utf8)
    guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { throw Silence() }
  }

  deinit { close(descriptor) }

  /// The next line; the sizes of chunks are lines too, which nobody asks for.
  func line() async throws -> String {
    let end = ContinuousClock.now + .seconds(100)
    while true {
      if let place = received.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: received[..<place], as: UTF8.self)
        received.removeSubrange(...place)
        return line.last == "\r" ? String(line.dropLast()) : line
      }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 {
        received.append(contentsOf: buffer[..<count])
      } else if count == 0 || .now > end {
        throw Silence()
      } else {
        try await Task.sleep(for: .milliseconds(2))
      }
    }
  }
}
