public import JSON
public import Model

/// What this device's memory asks of the server: calls that answer with JSON, and files on their way. `ClientServer` is one.
public protocol PlaceServer: Sendable {
  /// The body of the answer. Whatever is no success is thrown.
  func answer(to call: ServerCall) async throws(ServerFault) -> [UInt8]
  /// Sends a file, or goes on where that was interrupted. Sent twice under one name it is one file.
  func upload(
    _ file: PendingFile, progress: @escaping @Sendable (_ sent: Int, _ size: Int) -> Void
  ) async throws(ServerFault) -> ID<File>
}

/// One call, as a value.
public struct ServerCall: Sendable, Hashable {
  public var method: RequestMethod
  /// Below `/api/v1`.
  public var path: String
  /// In their order; values are plain text.
  public var query: [QueryItem] = []
  public var body: JSONRaw?

  public init(_ method: RequestMethod, _ path: String, _ query: [QueryItem] = []) {
    self.method = method
    self.path = path
    self.query = query
  }

  init(_ method: RequestMethod, _ path: String, _ members: (inout JSONWriter) -> Void) {
    self.init(method, path)
    var json = JSONWriter()
    json.object(members)
    body = JSONRaw(trusted: json.bytes)
  }
}

/// Why a call did not succeed.
public struct ServerFault: Error, Sendable, Hashable {
  /// As the contract names it; `network` where no answer came, `unexpected` where it made no sense.
  public var code: String
  public var status: Int?
  /// It may go well later, without anybody doing anything.
  public var isTemporary: Bool
  /// In seconds, where the server says so.
  public var retryAfter: Int?
  /// For the person.
  public var sentence: String

  public init(
    code: String, status: Int? = nil, isTemporary: Bool, retryAfter: Int? = nil, sentence: String
  ) {
    self.code = code
    self.status = status
    self.isTemporary = isTemporary
    self.retryAfter = retryAfter
    self.sentence = sentence
  }

  public var isSignedOut: Bool { status == 401 }

  /// What was asked for is not there, or not any more, or not for this person.
  var isGone: Bool { status == 403 || status == 404 || status == 410 }

  static let unexpected = ServerFault(
    code: "unexpected", isTemporary: false, sentence: "The server has said something that makes no sense here.")
}

extension ServerFault: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("code", code)
      json.field("status", status)
      json.field("temporary", isTemporary)
      json.field("sentence", sentence)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      code: try object.string("code"), status: try object.optional("status"), isTemporary: try object.bool("temporary"),
      sentence: try object.string("sentence"))
  }
}

extension PlaceServer {
  /// The answer, read.
  func read<Answer: JSONReadable>(_ call: ServerCall) async throws(ServerFault) -> Answer {
    let bytes = try await answer(to: call)
    do { return try Answer(json: JSONValue(parsing: bytes)) } catch { throw .unexpected }
  }
}
