import ParleyJSON
public import ParleyWire

/// An RFC 9457 problem. `code` is stable and for programs; `title` and `detail` are for developers. It never exposes
/// internals of the server.
public struct Problem: Error, Sendable {
  public var status: Status
  public var code: String
  public var title: String
  public var detail: String?
  public var params: [(name: String, value: Param)]
  public var errors: [FieldProblem]
  /// The current state as JSON, after a conflicting update.
  public var current: [UInt8]?
  /// Response fields, such as Retry-After or Allow.
  public var fields: Fields
  /// Closes the connection after the response, because the following bytes can't be parsed.
  public var closesConnection = false
  /// The internal cause. It is only logged.
  public var cause: String?

  public enum Param: Sendable, Equatable {
    case number(Int)
    case text(String)
    case list([String])
  }

  /// An error in one field of the input.
  public struct FieldProblem: Sendable {
    public var field: String
    public var code: String
    public var params: [(name: String, value: Param)]

    public init(field: String, code: String, params: [(name: String, value: Param)] = []) {
      self.field = field
      self.code = code
      self.params = params
    }
  }

  public init(
    _ status: Status, code: String, title: String, detail: String? = nil,
    params: [(name: String, value: Param)] = [], errors: [FieldProblem] = [], fields: Fields = Fields()
  ) {
    self.status = status
    self.code = code
    self.title = title
    self.detail = detail
    self.params = params
    self.errors = errors
    self.fields = fields
  }

  public static let notFound = Problem(.notFound, code: "not_found", title: "There is nothing here.")
  public static let unavailable = Problem(
    .serviceUnavailable, code: "unavailable", title: "This can't be answered now. Try again.",
    fields: ["Retry-After": "1"])
  public static let internalError = Problem(
    .internalServerError, code: "internal", title: "Something went wrong here.")
  public static let preconditionFailed = Problem(
    .preconditionFailed, code: "precondition_failed", title: "It is not as the request requires.")
  public static let disconnected = Problem(.badRequest, code: "disconnected", title: "The client left.")

  public static func badRequest(_ detail: String) -> Problem {
    Problem(.badRequest, code: "invalid", title: "The request is not valid.", detail: detail)
  }

  public static func tooLarge(limit: Int) -> Problem {
    var problem = Problem(
      .contentTooLarge, code: "too_large", title: "The body is too large.",
      detail: "At most \(limit) bytes are accepted.",
      params: [("limit", .number(limit))])
    problem.closesConnection = true
    return problem
  }

  static func rangeNotSatisfiable(length: Int) -> Problem {
    Problem(
      .rangeNotSatisfiable, code: "range_not_satisfiable", title: "There is nothing in that range.",
      fields: ["Content-Range": ByteRanges.unsatisfiableContentRange(of: length)])
  }

  public static func methodNotAllowed(_ allowed: String) -> Problem {
    Problem(
      .methodNotAllowed, code: "method_not_allowed", title: "This address does not take that method.",
      fields: ["Allow": allowed])
  }
}

extension Problem {
  /// An internal error. The cause is logged and not sent to the client.
  public static func broken(_ cause: some Error) -> Problem {
    var problem = Problem.internalError
    problem.cause = String(describing: cause)
    return problem
  }

  public func response(id: RequestID, origin: String) -> Response {
    response(document(id: id, origin: origin), type: .problem)
  }

  func response(_ bytes: [UInt8], type: ContentType) -> Response {
    var response = Response(status, bytes, type: type)
    // The problem may be temporary, so caches must not store it.
    response.fields.add("Cache-Control", "no-store")
    for index in 0..<fields.count { response.fields.add(fields.name(at: index), fields.value(at: index)) }
    if closesConnection { response.fields.add("Connection", "close") }
    return response
  }

  /// The page of `/docs` that explains each code.
  static let documentation = "/docs/errors"

  /// The problem document, JSON.
  ///
  /// - Parameter origin: the public origin of the site, for the address of the documentation.
  public func document(id: RequestID, origin: String) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.field("type", "\(origin)\(Self.documentation)#\(code)")
      json.field("title", title)
      json.field("status", status.code)
      json.field("code", code)
      if let detail { json.field("detail", detail) }
      if !params.isEmpty { json.object("params") { Self.write(params, to: &$0) } }
      if !errors.isEmpty {
        json.array("errors") { json in
          for error in errors {
            json.object { json in
              json.field("field", error.field)
              json.field("code", error.code)
              if !error.params.isEmpty { json.object("params") { Self.write(error.params, to: &$0) } }
            }
          }
        }
      }
      if let current { json.field("current", JSONRaw(trusted: current)) }
      json.field("request", id.description)
    }
    return json.bytes
  }

  private static func write(_ params: [(name: String, value: Param)], to json: inout JSONWriter) {
    for (name, value) in params {
      switch value {
      case .number(let number): json.field(name, number)
      case .text(let text): json.field(name, text)
      case .list(let texts): json.field(name, texts)
      }
    }
  }
}
