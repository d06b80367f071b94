// Files on their way, both ways. A small one goes out in one request; a larger one in parts, which go on where they were
// interrupted. A download goes on by a range.

import JSON
public import Model

extension Client {
  /// What is sent in one request.
  static let smallFile = 4 << 20
  /// One part of a larger one.
  static let part = 8 << 20
  /// How often a part is tried again when the connection breaks.
  static let transferAttempts = 8

  /// Sends a file; cancelled by cancelling its task.
  ///
  /// - Parameters:
  ///   - clientID: sent twice under one name it is one file.
  ///   - progress: how many bytes the network has taken.
  public func upload(
    _ file: FileSource, clientID: String? = nil, public isPublic: Bool = false,
    progress: (@Sendable (_ sent: Int, _ size: Int) -> Void)? = nil
  ) async throws(ClientFault) -> Fact {
    guard file.size > Self.smallFile else {
      let body = RequestBody.file(file, 0..<file.size, type: "application/octet-stream")
      let request = Request<Fact>.postFile(
        name: file.name, type: file.type, public: isPublic, clientId: clientID, body)
      return try await send(request.named(clientID), progress: progress)
    }
    let begun = try await send(
      Request<Fact>.beginUpload { json in
        json.field("name", file.name)
        json.field("size", file.size)
        if let type = file.type { json.field("type", type) }
        if isPublic { json.field("public", true) }
        if let clientID { json.field("client_id", clientID) }
      }.named(clientID))
    guard let id = begun["id"] else { throw .notUnderstood("an upload without an id") }
    return try await goOn(id, file, from: begun.member("offset") ?? 0, progress)
  }

  /// Goes on with an upload that was interrupted, even by the end of the program.
  public func resume(
    _ upload: String, of file: FileSource, progress: (@Sendable (_ sent: Int, _ size: Int) -> Void)? = nil
  ) async throws(ClientFault) -> Fact {
    let begun = try await send(Request<Fact>.upload(upload))
    guard let offset: Int = begun.member("offset"), (0...file.size).contains(offset) else {
      throw .notUnderstood("an upload without its offset")
    }
    return try await goOn(upload, file, from: offset, progress)
  }

  private func goOn(
    _ id: String, _ file: FileSource, from start: Int, _ progress: (@Sendable (Int, Int) -> Void)?
  ) async throws(ClientFault) -> Fact {
    var (offset, tries) = (start, 0)
    while true {
      guard offset < file.size else { throw .notUnderstood("the upload is whole, and is no file") }
      let end = min(file.size, offset + Self.part)
      var request = Request<Reply>.continueUpload(
        id, .file(file, offset..<end, type: "application/offset+octet-stream"))
      request.fields.append(Exchange.Field("Upload-Offset", "\(offset)"))
      do throws(ClientFault) {
        let reply = try await send(request, progress: progress)
        if reply.status == 201 { return try Self.fact(reply) }
        (offset, tries) = (end, 0)
      } catch {
        tries += 1
        guard error.isTemporary, tries < Self.transferAttempts else { throw error }
        do { try await retrying.pause(retrying.delay(after: tries)) } catch { throw .cancelled }
        // Where the server stands, it says itself.
        let held = try await send(Request<Fact>.upload(id))
        guard let there: Int = held.member("offset"), (0...file.size).contains(there) else { throw error }
        offset = there
      }
    }
  }

  private static func fact(_ reply: Reply) throws(ClientFault) -> Fact {
    do throws(JSONError) {
      return try Fact(json: JSONValue(parsing: reply.body))
    } catch {
      throw .notUnderstood("\(error)")
    }
  }

  /// Fetches a file piece by piece, and goes on where the connection broke.
  ///
  /// - Parameters:
  ///   - start: bytes that are held already.
  ///   - take: is given each piece in its order; while it waits, nothing more comes.
  public func download(
    _ file: ID<File>, from start: Int = 0,
    progress: (@Sendable (_ received: Int, _ size: Int?) -> Void)? = nil,
    _ take: ([UInt8]) async throws(ClientFault) -> Void
  ) async throws(ClientFault) {
    var (offset, tries) = (start, 0)
    var tag: String?
    while true {
      var request = Request<Reply>.fileContent(of: file)
      if offset > 0 { request.fields.append(Exchange.Field("Range", "bytes=\(offset)-")) }
      if let tag { request.fields.append(Exchange.Field("If-Range", tag)) }
      do throws(ClientFault) {
        let answer = try await self.answer(to: request)
        // The whole instead of the rest: it is another file by now.
        guard answer.status == (offset > 0 ? 206 : 200) else { throw .notUnderstood("another part of the file") }
        let size = answer["content-length"].flatMap { Int($0) }.map { $0 + offset }
        tag = answer["etag"] ?? tag
        while let piece = try await Self.next(answer) {
          offset += piece.count
          tries = 0
          try await take(piece)
          progress?(offset, size)
        }
        return
      } catch {
        tries += 1
        guard error.isTemporary, tries < Self.transferAttempts else { throw error }
        do { try await retrying.pause(retrying.delay(after: tries)) } catch { throw .cancelled }
      }
    }
  }

  private static func next(_ answer: ExchangeAnswer) async throws(ClientFault) -> [UInt8]? {
    do throws(TransportFailure) { return try await answer.next() } catch { throw ClientFault(error) }
  }
}
