public import ParleyWire

/// One request, as it is to be sent. Host, Content-Length and what concerns the connection are added.
public struct Call: Sendable {
  public var method: ParleyWire.Method
  /// Path and query, encoded.
  public var target: String
  public var fields: Fields
  public var body: CallBody
  /// The longest body of an answer that is wanted.
  public var answerLimit: Int
  /// From the beginning until the answer is whole; nil: as long as something comes.
  public var time: Duration?

  public init(
    _ method: ParleyWire.Method, _ target: String, _ fields: Fields = Fields(), body: CallBody = .none,
    answerLimit: Int = .max, time: Duration? = nil
  ) {
    self.method = method
    self.target = target
    self.fields = fields
    self.body = body
    self.answerLimit = answerLimit
    self.time = time
  }

  /// Asks for something.
  public init(_ target: String, _ fields: Fields = Fields(), answerLimit: Int = .max, time: Duration? = nil) {
    self.init(.get, target, fields, answerLimit: answerLimit, time: time)
  }
}

/// What goes out with a request.
public enum CallBody: Sendable {
  case none
  case bytes([UInt8])
  /// So many bytes, asked for as the network takes them; an empty piece before that is a fault of the source.
  case pieces(length: Int, next: @Sendable () async throws -> [UInt8])

  var length: Int? {
    switch self {
    case .none: nil
    case .bytes(let bytes): bytes.count
    case .pieces(let length, _): length
    }
  }

  /// Whether it can be sent a second time.
  var isRepeatable: Bool {
    switch self {
    case .none, .bytes: true
    case .pieces: false
    }
  }
}

extension Call {
  /// RFC 9110 §9.2.2: asked twice it does what it does once.
  var isIdempotent: Bool {
    switch method {
    case .get, .head, .put, .delete, .options: true
    case .post, .patch, .other: false
    }
  }

  /// What is ours to say.
  private static let ours: [StaticString] = [
    "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect",
  ]

  /// The bytes of the head.
  func head(to destination: Destination, upgrade: Fields?) throws(CallFailure) -> [UInt8] {
    guard !method.name.isEmpty, method.name.utf8.allSatisfy({ $0 > 0x40 && $0 < 0x5b }) else {
      throw .unsendable("\(method.name) is no method")
    }
    guard target.utf8.first == UInt8(ascii: "/"), target.utf8.allSatisfy({ $0 > 32 && $0 < 127 }),
      destination.authority.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
    else { throw .unsendable("the address is not encoded") }
    var fields = fields
    for name in Self.ours { fields.remove(name) }
    var head = Array("\(method.name) \(target) HTTP/1.1\r\nHost: \(destination.authority)\r\n".utf8)
    if let length = body.length ?? (method == .post || method == .put || method == .patch ? 0 : nil) {
      fields.add("Content-Length", "\(length)")
    }
    head += fields.wireBytes
    if let upgrade { head += upgrade.wireBytes }
    head += [13, 10]
    return head
  }
}
