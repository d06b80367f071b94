public import ParleyJSON
import ParleyModel

/// A call as a value: it can be kept, changed, and sent any number of times. Each endpoint has a function that makes one
/// (`Endpoints`), and one can be made for any path.
///
///     let request = Request.messages(in: room, limit: 200)
///     let page = try await client.send(request)
public struct Request<Answer: Sendable>: Sendable {
  public var method: RequestMethod
  /// Below `/api/v1`, encoded.
  public var path: String
  /// In their order; values are plain text.
  public var query: [QueryItem]
  public var body: RequestBody
  /// Beside those that every request has.
  public var fields: [Exchange.Field]
  /// Whether it says who asks.
  public var isSigned = true
  /// Whether sending it a second time does no harm.
  public var isRepeatable: Bool
  /// The longest answer that is taken.
  public var answerLimit = 64 << 20
  /// Whether a page of HTML may be what was asked for: somebody's file can be one.
  var takesPages = false
  let read: @Sendable (Reply) throws(ClientFault) -> Answer

  init(
    _ method: RequestMethod, _ template: String, _ arguments: [String], _ query: [QueryItem?],
    _ body: RequestBody, read: @escaping @Sendable (Reply) throws(ClientFault) -> Answer
  ) {
    self.method = method
    path = Self.path(template, arguments)
    self.query = query.compactMap { $0 }
    self.body = body
    fields = []
    isRepeatable = method.isIdempotent
    self.read = read
  }

  /// Each name in braces is replaced by the argument in its place, encoded.
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

  /// Path and query as they are sent.
  var target: String {
    guard !query.isEmpty else { return "/api/v1" + path }
    let pairs = query.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }
    return "/api/v1" + path + "?" + pairs.joined(separator: "&")
  }

  /// The same call without saying who asks.
  public func unsigned() -> Request {
    var request = self
    request.isSigned = false
    return request
  }

  /// The same call, with this in its query.
  public func with(_ name: String, _ value: String) -> Request {
    var request = self
    request.query.removeAll { $0.name == name }
    request.query.append(QueryItem(name, value))
    return request
  }

  /// The same call, known by this name to the server: sent twice it is done once.
  func named(_ clientID: String?) -> Request {
    var request = self
    request.isRepeatable = request.isRepeatable || clientID != nil
    return request
  }
}

extension Request where Answer: JSONReadable {
  /// For any path, with the names in braces replaced.
  public init(
    _ method: RequestMethod, _ template: String, _ arguments: [String] = [], query: [QueryItem?] = [],
    body: RequestBody = .none
  ) {
    self.init(method, template, arguments, query, body) { reply throws(ClientFault) in try reply.read() }
  }
}

extension Request where Answer == Void {
  public init(
    _ method: RequestMethod, _ template: String, _ arguments: [String] = [], query: [QueryItem?] = [],
    body: RequestBody = .none
  ) {
    self.init(method, template, arguments, query, body) { _ throws(ClientFault) in }
  }
}

extension Request where Answer == Reply {
  /// The answer as it came.
  public init(
    _ method: RequestMethod, _ template: String, _ arguments: [String] = [], query: [QueryItem?] = [],
    body: RequestBody = .none
  ) {
    self.init(method, template, arguments, query, body) { reply throws(ClientFault) in reply }
    takesPages = true
  }
}

public enum RequestMethod: String, Sendable, Hashable {
  case get = "GET"
  case head = "HEAD"
  case post = "POST"
  case put = "PUT"
  case patch = "PATCH"
  case delete = "DELETE"

  /// RFC 9110 §9.2.2: done twice it is done once.
  var isIdempotent: Bool {
    switch self {
    case .get, .head, .put, .delete: true
    case .post, .patch: false
    }
  }
}

public struct QueryItem: Sendable, Hashable {
  public var name: String
  public var value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Nothing where there is no value.
  init?(_ name: String, _ value: (any CustomStringConvertible)?) {
    guard let value else { return nil }
    self.init(name, value.description)
  }

  init?(_ name: String, _ time: Timestamp?) {
    guard let time else { return nil }
    self.init(name, Timestamp.format(time.milliseconds))
  }

  /// What lies between two is meant, whichever of them is named first.
  static func between<Thing>(after: ID<Thing>?, before: ID<Thing>?) -> [QueryItem?] {
    let isTurned = if let after, let before { before < after } else { false }
    return [QueryItem("before", isTurned ? after : before), QueryItem("after", isTurned ? before : after)]
  }

  static func between(afterTime: Timestamp?, beforeTime: Timestamp?) -> [QueryItem?] {
    let isTurned =
      if let afterTime, let beforeTime { beforeTime.milliseconds < afterTime.milliseconds } else { false }
    return [
      QueryItem("before_time", isTurned ? afterTime : beforeTime),
      QueryItem("after_time", isTurned ? beforeTime : afterTime),
    ]
  }
}

/// What came back, whole.
public struct Reply: Sendable {
  public let status: Int
  public let fields: [Exchange.Field]
  public let body: [UInt8]

  /// The first field of this name, in any case.
  public subscript(_ name: String) -> String? {
    let name = name.lowercased()
    return fields.first { $0.name.lowercased() == name }?.value
  }

  /// What it says.
  public func read<Answer: JSONReadable>() throws(ClientFault) -> Answer {
    do throws(JSONError) { return try Answer(json: JSONValue(parsing: body)) } catch {
      throw .notUnderstood("\(error)")
    }
  }
}

enum PercentEncoding {
  private static let digits = Array("0123456789ABCDEF".unicodeScalars)

  /// RFC 3986 §2.3: letters, digits and `-._~` stand for themselves.
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
