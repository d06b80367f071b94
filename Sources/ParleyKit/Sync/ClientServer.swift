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

  public func answer(to call: ServerCall) async throws(ServerFault) -> [UInt8] {
    var request = Request<Reply>(
      call.method, call.path, query: call.query, body: call.body.map(RequestBody.json) ?? .none)
    request.takesPages = false
    do throws(ClientFault) {
      return try await client.send(request).body
    } catch {
      throw ServerFault(error)
    }
  }

  public func upload(
    _ file: PendingFile, progress: @escaping @Sendable (_ sent: Int, _ size: Int) -> Void
  ) async throws(ServerFault) -> ID<File> {
    var source: FileSource
    do { source = try await open(file) } catch { throw ServerFault(.unreadable("\(error)")) }
    source.name = file.name
    source.type = file.type.isEmpty ? nil : file.type
    do throws(ClientFault) {
      let fact = try await client.upload(source, clientID: file.id, public: file.isPublic, progress: progress)
      guard let id = fact["id"].flatMap({ ID<File>($0) }) else { throw .notUnderstood("a file without an id") }
      return id
    } catch {
      throw ServerFault(error)
    }
  }
}

extension ServerFault {
  init(_ fault: ClientFault) {
    switch fault {
    case .refused(let problem):
      self.init(
        code: problem.code, status: problem.status, isTemporary: fault.isTemporary, retryAfter: problem.retryAfter,
        sentence: fault.sentence)
    case .offline, .timedOut, .interrupted, .captivePortal:
      self.init(code: "network", isTemporary: true, sentence: fault.sentence)
    case .cancelled:
      // Given up here, not refused there: it is tried again when somebody asks.
      self.init(code: "cancelled", isTemporary: true, sentence: fault.sentence)
    case .untrusted, .notUnderstood, .tooLarge, .unreadable, .accountChanged:
      self.init(code: "unexpected", isTemporary: false, sentence: fault.sentence)
    }
  }
}
