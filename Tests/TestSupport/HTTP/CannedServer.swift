import Foundation
import Synchronization

/// A web server on 127.0.0.1 that sends the responses of a test, valid or not, and records the requests.
public final class CannedServer: Sendable {
  public enum Answer: Sendable {
    /// Sends the bytes unchanged, then closes.
    case bytes([UInt8])
    /// Sends the bytes unchanged, then is silent until the client closes.
    case beginning([UInt8])
    /// Is silent until the client closes.
    case silence
    /// Sends a byte at a time, with a pause in milliseconds.
    case drip([UInt8], every: Int)

    public static func text(_ text: String) -> Answer { .bytes(Array(text.utf8)) }

    public static func page(_ html: String, type: String = "text/html; charset=utf-8") -> Answer {
      .content(Array(html.utf8), type: type)
    }

    public static func content(_ body: [UInt8], type: String) -> Answer {
      .bytes(Array("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
    }

    public static func redirect(to address: String, status: Int = 302) -> Answer {
      .text("HTTP/1.1 \(status) Found\r\nLocation: \(address)\r\nContent-Length: 0\r\n\r\n")
    }

    public static let missing = Answer.text("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
  }

  public let port: Int
  private let socket: Int32
  private let heads = Mutex<[String]>([])

  public init(_ answer: @escaping @Sendable (_ target: String) -> Answer) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = socket
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(socket, pointer, length) == 0 && listen(socket, 512) == 0 && getsockname(socket, pointer, &length) == 0
      }
    }
    guard bound else { throw POSIXError(.EADDRINUSE) }
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { [weak self] in
      // The accepting thread closes it, since the descriptor number may be reused at once.
      defer { close(socket) }
      while true {
        let client = accept(socket, nil, nil)
        guard client >= 0 else { return }
        Thread.detachNewThread { [weak self] in
          defer { close(client) }
          guard let head = Self.readHead(client) else { return }
          self?.heads.withLock { $0.append(head) }
          let words = head.split(separator: " ")
          Self.send(answer(words.count > 1 ? String(words[1]) : ""), to: client)
        }
      }
    }
  }

  deinit { shutdown(socket, Int32(SHUT_RDWR)) }

  public var url: String { "http://127.0.0.1:\(port)" }

  /// The heads of the received requests.
  public var requests: [String] { heads.withLock { $0 } }

  /// The requested targets, in order.
  public var targets: [String] { requests.map { $0.split(separator: " ").dropFirst().first.map(String.init) ?? "" } }

  private static func readHead(_ client: Int32) -> String? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      let count = read(client, &buffer, buffer.count)
      guard count > 0 else { return nil }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func send(_ answer: Answer, to client: Int32) {
    switch answer {
    case .bytes(let bytes):
      guard sendAll(bytes, to: client) else { return }
      // Unread input would reset the connection and discard these bytes.
      shutdown(client, Int32(SHUT_WR))
      awaitEnd(client)
    case .beginning(let bytes):
      if sendAll(bytes, to: client) { awaitEnd(client) }
    case .silence: awaitEnd(client)
    case .drip(let bytes, let pause):
      for byte in bytes {
        var one = byte
        guard Glibc.send(client, &one, 1, Int32(MSG_NOSIGNAL)) == 1 else { return }
        usleep(UInt32(pause) * 1_000)
      }
    }
  }

  private static func sendAll(_ bytes: [UInt8], to client: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private static func awaitEnd(_ client: Int32) {
    var byte: UInt8 = 0
    while read(client, &byte, 1) > 0 {}
  }
}
