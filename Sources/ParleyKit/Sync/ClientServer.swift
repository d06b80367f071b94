import JSON
public import Model

/// The server as a `Client` reaches it.
public struct ClientServer: PlaceServer {
  private let client: Client
  private let open: @Sendable (PendingFile) async throws -> FileSource

  /// - Parameter open: finds the bytes of a file that lies on this device.
  public init(_ client: Client, open: @escaping @Sendable (PendingFile) async throws -> FileSource) {
    self.client = client
    self.open = open
  }

  public func answer(to call: ServerCall) async throws(ClientFault) -> [UInt8] {
    var request = Request<Reply>(
      call.method, call.path, query: call.query, body: call.body.map(RequestBody.json) ?? .none)
    request.takesPages = false
    return try await client.send(request).body
  }

  public func upload(
    _ file: PendingFile, progress: @escaping @Sendable (_ sent: Int, _ size: Int) -> Void
  ) async throws(ClientFault) -> ID<File> {
    var source: FileSource
    do { source = try await open(file) } catch { throw .unreadable("\(error)") }
    source.name = file.name
    source.type = file.type.isEmpty ? nil : file.type
    return try await client.upload(source, clientID: file.id, public: file.isPublic, progress: progress).id
  }
}
