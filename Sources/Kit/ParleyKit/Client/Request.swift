public import ParleyJSON
public import ParleyModel

/// A request as a value. It can be changed and sent any number of times. Each endpoint has a function that creates its
/// request (`Endpoints`); a request for any other path can be created with `init`.
///
///     let request = Request.listMessages(in: room, limit: 200)
///     let page = try await client.send(request)
public struct Request<Response: Sendable>: Sendable {
  /// The HTTP method.
  public var method: RequestMethod
  /// The path that `path` is relative to. Empty for what the site serves besides its API, such as `/healthz`.
  public var base = "/api/v1"
  /// Relative to `base`, percent-encoded.
  public var path: String
  /// Not percent-encoded.
  public var query: [QueryItem]
  /// The body; `.none` without one.
  public var body: RequestBody
  /// Additional header fields.
  public var fields: [TransportRequest.Field]
  /// Whether the token is sent.
  public var isAuthenticated = true
  /// Whether a retry is safe.
  public var isRepeatable: Bool
  /// A longer response is a fault.
  public var maxResponseBytes = 64 << 20
  /// Whether an HTML response is valid. The content of a file may be HTML.
  var acceptsHTML = false
  let read: @Sendable (RawResponse) throws(ClientFault) -> Response

  init(
    _ method: RequestMethod, _ template: String, _ arguments: [String], _ query: [QueryItem?],
    _ body: RequestBody, read: @escaping @Sendable (RawResponse) throws(ClientFault) -> Response
  ) {
    self.method = method
    path = Self.path(template, arguments)
    self.query = query.compactMap { $0 }
    self.body = body
    fields = []
    isRepeatable = method.isIdempotent
    self.read = read
  }

  /// Replaces each name in braces by the next argument, percent-encoded.
  private static func path(_ template: String, _ arguments: [String]) -> String {
    var path = ""
    var rest = Substring(template)
    for argument in arguments {
      guard let open = rest.firstIndex(of: "{"), let close = rest.firstIndex(of: "}"), open < close else { break }
      path += rest[..<open] + PercentEncoding.encode(argument)
      rest = rest[rest.index(after: close)...]
    }
    return path + rest
  }

  /// Path and query, percent-encoded.
  var target: String {
    guard !query.isEmpty else { return base + path }
    let pairs = query.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }
    return base + path + "?" + pairs.joined(separator: "&")
  }

  /// The request without the token.
  public func unauthenticated() -> Request {
    var request = self
    request.isAuthenticated = false
    return request
  }

  /// The request with a query item added or replaced.
  public func with(_ name: String, _ value: String) -> Request {
    var request = self
    request.query.removeAll { $0.name == name }
    request.query.append(QueryItem(name, value))
    return request
  }

  /// The request with the users, files and posts that its response names: `Page.included`, `Resource.included`.
  public func including(_ things: Inclusion = .all) -> Request { with("include", things.description) }

  /// The request for the page after, or before, a page of this list; nil if there is none.
  public func following<Element>(
    _ page: Page<Element>, _ direction: PageDirection = .next
  ) -> Request? where Response == Page<Element> {
    var request = self
    request.query.removeAll { $0.name == "next" || $0.name == "previous" }
    switch direction {
    case .next: return page.next.map { request.with("next", $0) }
    case .previous: return page.previous.map { request.with("previous", $0) }
    }
  }

  /// Marks a request with an idempotency key as repeatable.
  func withClientID(_ clientID: String?) -> Request {
    var request = self
    request.isRepeatable = request.isRepeatable || clientID != nil
    return request
  }
}

extension Request where Response: JSONReadable {
  /// A request for any path. `arguments` replace the names in braces.
  public init(
    _ method: RequestMethod, _ template: String, _ arguments: [String] = [], query: [QueryItem?] = [],
    body: RequestBody = .none
  ) {
    self.init(method, template, arguments, query, body) { reply throws(ClientFault) in try reply.read() }
  }
}

extension Request where Response == Void {
  /// A request without a response body.
  public init(
    _ method: RequestMethod, _ template: String, _ arguments: [String] = [], query: [QueryItem?] = [],
    body: RequestBody = .none
  ) {
    self.init(method, template, arguments, query, body) { _ throws(ClientFault) in }
  }
}

extension Request where Response == RawResponse {
  /// A request with an undecoded response.
  public init(
    _ method: RequestMethod, _ template: String, _ arguments: [String] = [], query: [QueryItem?] = [],
    body: RequestBody = .none
  ) {
    self.init(method, template, arguments, query, body) { reply throws(ClientFault) in reply }
    acceptsHTML = true
  }
}

/// HTTP methods (RFC 9110 §9).
public enum RequestMethod: String, Sendable, Hashable {
  /// Reads.
  case get = "GET"
  /// Reads without the body.
  case head = "HEAD"
  /// Creates, or starts an action.
  case post = "POST"
  /// Sets; repeatable.
  case put = "PUT"
  /// Changes the given members.
  case patch = "PATCH"
  /// Removes; repeatable.
  case delete = "DELETE"

  /// RFC 9110 §9.2.2.
  var isIdempotent: Bool {
    switch self {
    case .get, .head, .put, .delete: true
    case .post, .patch: false
    }
  }
}

/// A name and a value of a query.
public struct QueryItem: Sendable, Hashable {
  /// Not percent-encoded.
  public var name: String
  /// Not percent-encoded.
  public var value: String

  /// An item of a query.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Nil if there is no value.
  init?(_ name: String, _ value: (any CustomStringConvertible)?) {
    guard let value else { return nil }
    self.init(name, value.description)
  }

  init?<Word: RawRepresentable<String>>(_ name: String, _ word: Word?) {
    guard let word else { return nil }
    self.init(name, word.rawValue)
  }

  init?<Thing>(_ name: String, ids: [ID<Thing>]?) {
    guard let ids else { return nil }
    self.init(name, ids.map(\.description).joined(separator: ","))
  }

  init?(_ name: String, _ time: Timestamp?) {
    guard let time else { return nil }
    self.init(name, Timestamp.format(time.milliseconds))
  }

  /// The interval between two messages, in either order.
  static func between<Thing>(after: ID<Thing>?, before: ID<Thing>?) -> [QueryItem?] {
    let isReversed = if let after, let before { before < after } else { false }
    return [QueryItem("before", isReversed ? after : before), QueryItem("after", isReversed ? before : after)]
  }

  static func between(afterTime: Timestamp?, beforeTime: Timestamp?) -> [QueryItem?] {
    let isReversed =
      if let afterTime, let beforeTime { beforeTime.milliseconds < afterTime.milliseconds } else { false }
    return [
      QueryItem("before_time", isReversed ? afterTime : beforeTime),
      QueryItem("after_time", isReversed ? beforeTime : afterTime),
    ]
  }
}

/// A complete response with an undecoded body.
public struct RawResponse: Sendable {
  /// The HTTP status.
  public let status: Int
  /// The header fields, in their order.
  public let fields: [TransportRequest.Field]
  /// The content, decompressed.
  public let body: [UInt8]

  /// The first field of a name, case-insensitive.
  public subscript(_ name: String) -> String? {
    let name = name.lowercased()
    return fields.first { $0.name.lowercased() == name }?.value
  }

  /// Decodes the body.
  public func read<Response: JSONReadable>() throws(ClientFault) -> Response {
    do throws(JSONError) { return try Response(json: JSONValue(parsing: body)) } catch {
      throw .invalidResponse("\(error)")
    }
  }
}

enum PercentEncoding {
  private static let digits = Array("0123456789ABCDEF".unicodeScalars)

  /// RFC 3986 §2.3: letters, digits and `-._~` are not encoded.
  static func encode(_ text: String) -> String {
    var output = String.UnicodeScalarView()
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        output.append(Unicode.Scalar(byte))
      default:
        output.append("%")
        output.append(digits[Int(byte >> 4)])
        output.append(digits[Int(byte & 15)])
      }
    }
    return String(output)
  }
}
