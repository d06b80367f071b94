// Files on their way, both ways. A small one goes out in one request; a larger one in parts, which go on where they were
// interrupted. A download goes on by a range.

import ParleyJSON
public import ParleyModel

extension Client {
  /// What is sent in one request.
  static let smallFile = 4 << 20
  /// One part of a larger one.
  static let part = 8 << 20
  /// How often a part is tried again when the connection breaks.
  static let transferAttempts = 8

  /// Sends a file, with its preview; cancelled by cancelling its task.
  ///
  /// - Parameters:
  ///   - clientID: sent twice under one name it is one file.
  ///   - progress: how many bytes the network has taken.
  public func upload(
    _ file: FileSource, clientID: String? = nil, public isPublic: Bool = false,
    progress: (@Sendable (_ sent: Int, _ size: Int) -> Void)? = nil
  ) async throws(ClientFault) -> Resource<File> {
    let preview = await file.preview?()
    guard file.size > Self.smallFile else {
      let post = { (body: RequestBody) in
        Request<Resource<File>>.postFile(
          name: file.name, type: file.type, public: isPublic, clientID: clientID, body)
      }
      if let preview {
        do throws(ClientFault) {
          let sent = try await send(post(try await Self.form(file, preview)))
          progress?(file.size, file.size)
          return sent
        } catch {
          guard error.problem?.errors.contains(where: { $0.field == "preview" }) == true else { throw error }
        }
      }
      return try await send(
        post(.file(file, 0..<file.size, type: "application/octet-stream")), progress: progress)
    }
    let begun = try await send(
      .beginUpload(
        name: file.name, size: file.size, type: file.type, public: isPublic ? true : nil, clientID: clientID))
    let sent = try await goOn(begun.id, file, from: begun.offset, progress)
    guard let preview else { return sent }
    do throws(ClientFault) {
      return try await send(
        .setFilePreview(of: sent.id, .bytes(preview, type: "application/octet-stream")))
    } catch {
      // The file is there without it.
      return sent
    }
  }

  /// RFC 7578: a small file and its preview. What is said of the file stands in the query.
  private static func form(_ file: FileSource, _ preview: [UInt8]) async throws(ClientFault) -> RequestBody {
    let boundary = Outbox.Clock.randomName()
    var body: [UInt8] = []
    let part = { (name: String) in
      Array(
        "\r\n--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(name)\"\r\n\r\n".utf8)
    }
    body += part("preview").dropFirst(2) + preview + part("file")
    var offset = 0
    while offset < file.size {
      let piece: [UInt8]
      do { piece = try await file.read(offset, file.size - offset) } catch { throw .unreadable("\(error)") }
      guard !piece.isEmpty else { throw .unreadable("it is shorter than was said") }
      body += piece
      offset += piece.count
    }
    body += Array("\r\n--\(boundary)--\r\n".utf8)
    return .bytes(body, type: "multipart/form-data; boundary=\(boundary)")
  }

  /// Goes on with an upload that was interrupted, even by the end of the program.
  public func resume(
    _ upload: ID<Upload>, of file: FileSource, progress: (@Sendable (_ sent: Int, _ size: Int) -> Void)? = nil
  ) async throws(ClientFault) -> Resource<File> {
    try await goOn(upload, file, from: try await held(upload, of: file), progress)
  }

  /// Where the server stands.
  private func held(_ upload: ID<Upload>, of file: FileSource) async throws(ClientFault) -> Int {
    let offset = try await send(Request<Resource<UploadProgress>>.upload(upload)).offset
    guard offset <= file.size else { throw .notUnderstood("more has come than there is") }
    return offset
  }

  private func goOn(
    _ id: ID<Upload>, _ file: FileSource, from start: Int, _ progress: (@Sendable (Int, Int) -> Void)?
  ) async throws(ClientFault) -> Resource<File> {
    var (offset, tries) = (start, 0)
    while true {
      guard offset < file.size else { throw .notUnderstood("the upload is whole, and is no file") }
      let end = min(file.size, offset + Self.part)
      var request = Request<Reply>.continueUpload(
        id, .file(file, offset..<end, type: "application/offset+octet-stream"))
      request.fields.append(Exchange.Field("Upload-Offset", "\(offset)"))
      do throws(ClientFault) {
        let reply = try await send(request, progress: progress)
        if reply.status == 201 { return try reply.read() }
        (offset, tries) = (end, 0)
      } catch {
        tries += 1
        guard error.isTemporary, tries < Self.transferAttempts else { throw error }
        do { try await retrying.pause(retrying.delay(after: tries)) } catch { throw .cancelled }
        offset = try await held(id, of: file)
      }
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
    activity.begin()
    defer { activity.end() }
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
