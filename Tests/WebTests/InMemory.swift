import ParleyWire
import Web

/// A client that calls an `Application` without a socket. The actor is the event loop of the connection.
actor InMemory {
  private let site: Application
  private var count: UInt64 = 0

  init(_ site: Application) {
    self.site = site
  }

  init(fallback: StaticFiles) {
    self.init(Application(router: Router { _ in }, fallback: fallback.respond))
  }

  /// A complete response.
  struct Answer: Sendable {
    let status: Int
    let fields: Fields
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    subscript(_ name: StaticString) -> String? { fields[name] }
  }

  func get(_ target: String, _ fields: Fields = [:], now: Int64 = InMemory.now) async -> Answer {
    await send(.get, target, fields, now: now)
  }

  func send(
    _ method: Method, _ target: String, _ fields: Fields = [:], body: [UInt8] = [], peer: IPAddress? = nil,
    isEncrypted: Bool = false, now: Int64 = InMemory.now
  ) async -> Answer {
    let queryStart = target.firstIndex(of: "?") ?? target.endIndex
    let head = RequestHead(
      method: method,
      target: Target(
        path: String(target[..<queryStart]),
        query: queryStart < target.endIndex ? String(target[queryStart...].dropFirst()) : nil),
      fields: fields, framing: body.isEmpty ? .none : .length(body.count))
    count += 1
    let request = Request(head: head, body: RequestBody(body))
    let context = Context(
      id: RequestID(process: 0xabcd, number: count), now: now, uptime: now, loop: self, peer: peer,
      isEncrypted: isEncrypted,
      request: request, addresses: site.addresses)
    var response = await site.respond(request, context, site.plan(head))
    // The server adds them while it writes the head.
    response.fields.addMissing(from: site.commonFields)
    return Answer(status: response.status.code, fields: response.fields, body: await Self.content(response.body))
  }

  private static func content(_ body: Response.Body) async -> [UInt8] {
    switch body {
    case .none, .webSocket: return []
    case .bytes(let bytes): return bytes
    case .segments(let segments):
      return segments.flatMap { segment in
        switch segment {
        case .bytes(let bytes): bytes
        case .file(let file, let range): file.read(range) ?? []
        }
      }
    case .stream(_, let write):
      var all: [UInt8] = []
      let writer = BodyWriter { bytes in
        all += bytes
        return true
      }
      try? await write(writer)
      return all
    }
  }

  /// Later than the timestamps of all test files.
  static let now: Int64 = 4_000_000_000_000
}
