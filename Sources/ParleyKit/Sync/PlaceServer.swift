public import JSON
public import Model

/// What this device's memory asks of the server: calls that answer with JSON, and files on their way. `ClientServer` is one.
public protocol PlaceServer: Sendable {
  /// The body of the answer. Whatever is no success is thrown.
  func answer(to call: ServerCall) async throws(ClientFault) -> [UInt8]
  /// Sends a file, or goes on where that was interrupted. Sent twice under one name it is one file.
  func upload(
    _ file: PendingFile, progress: @escaping @Sendable (_ sent: Int, _ size: Int) -> Void
  ) async throws(ClientFault) -> ID<File>
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

extension PlaceServer {
  /// The answer, read.
  func read<Answer: JSONReadable>(_ call: ServerCall) async throws(ClientFault) -> Answer {
    let bytes = try await answer(to: call)
    do { return try Answer(json: JSONValue(parsing: bytes)) } catch { throw .notUnderstood("\(error)") }
  }
}
