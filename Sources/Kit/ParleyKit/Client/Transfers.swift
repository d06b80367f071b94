// Uploads and downloads. A small file is uploaded in one request, a larger one in chunks that resume after an
// interruption. A download resumes with a range request.

import ParleyJSON
public import ParleyModel

extension Client {
  /// Larger files are uploaded in chunks.
  static let maxSingleRequestBytes = 4 << 20
  static let chunkSize = 8 << 20
  /// Attempts per chunk.
  static let maxTransferAttempts = 8

  /// Uploads a file and its preview. Cancelling the task cancels the upload.
  ///
  /// - Parameters:
  ///   - clientID: the idempotency key.
  ///   - progress: receives the sent and total bytes.
  public func upload(
    _ file: FileSource, clientID: String? = nil, public isPublic: Bool = false,
    progress: (@Sendable (_ sent: Int, _ size: Int) -> Void)? = nil
  ) async throws(ClientFault) -> Resource<File> {
    let preview = await file.preview?()
    guard file.size > Self.maxSingleRequestBytes else {
      let post = { (body: RequestBody) in
        Request<Resource<File>>.uploadFile(
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
    let created = try await send(
      .createUpload(
        name: file.name, size: file.size, type: file.type, public: isPublic ? true : nil, clientID: clientID))
    let sent = try await continueUpload(created.id, file, from: created.offset, progress)
    guard let preview else { return sent }
    do throws(ClientFault) {
      return try await send(
        .setFilePreview(of: sent.id, .bytes(preview, type: "application/octet-stream")))
    } catch {
      // The upload succeeded without its preview.
      return sent
    }
  }

  /// The form of a small file and its preview (RFC 7578). The file's name and type are in the query.
  private static func form(_ file: FileSource, _ preview: [UInt8]) async throws(ClientFault) -> RequestBody {
    let boundary = Outbox.Clock.randomName()
    var body: [UInt8] = []
    let partHeader = { (name: String) in
      Array(
        "\r\n--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(name)\"\r\n\r\n".utf8)
    }
    body += partHeader("preview").dropFirst(2) + preview + partHeader("file")
    var offset = 0
    while offset < file.size {
      let chunk: [UInt8]
      do { chunk = try await file.read(offset, file.size - offset) } catch { throw .unreadable("\(error)") }
      guard !chunk.isEmpty else { throw .unreadable("the file is shorter than its size") }
      body += chunk
      offset += chunk.count
    }
    body += Array("\r\n--\(boundary)--\r\n".utf8)
    return .bytes(body, type: "multipart/form-data; boundary=\(boundary)")
  }

  /// Resumes an interrupted upload, also one of an earlier process.
  public func resume(
    _ upload: ID<Upload>, of file: FileSource, progress: (@Sendable (_ sent: Int, _ size: Int) -> Void)? = nil
  ) async throws(ClientFault) -> Resource<File> {
    try await continueUpload(upload, file, from: try await uploadedBytes(upload, of: file), progress)
  }

  /// The number of bytes that the server has received.
  private func uploadedBytes(_ upload: ID<Upload>, of file: FileSource) async throws(ClientFault) -> Int {
    let offset = try await send(Request<Resource<UploadProgress>>.getUpload(upload)).offset
    guard offset <= file.size else { throw .invalidResponse("the upload offset exceeds the file size") }
    return offset
  }

  private func continueUpload(
    _ id: ID<Upload>, _ file: FileSource, from start: Int, _ progress: (@Sendable (Int, Int) -> Void)?
  ) async throws(ClientFault) -> Resource<File> {
    var (offset, tries) = (start, 0)
    while true {
      guard offset < file.size else { throw .invalidResponse("the upload is complete but has no file") }
      let end = min(file.size, offset + Self.chunkSize)
      var request = Request<RawResponse>.appendToUpload(
        id, .file(file, offset..<end, type: "application/offset+octet-stream"))
      request.fields.append(TransportRequest.Field("Upload-Offset", "\(offset)"))
      do throws(ClientFault) {
        let response = try await send(request, progress: progress)
        if response.status == 201 { return try response.read() }
        (offset, tries) = (end, 0)
      } catch {
        tries += 1
        guard error.isTemporary, tries < Self.maxTransferAttempts else { throw error }
        do { try await retryPolicy.sleep(retryPolicy.delay(after: tries)) } catch { throw .cancelled }
        offset = try await uploadedBytes(id, of: file)
      }
    }
  }

  /// Downloads a file in chunks and resumes after a broken connection.
  ///
  /// - Parameters:
  ///   - start: the number of bytes already downloaded.
  ///   - receive: receives the chunks in order. Its suspension applies backpressure.
  public func download(
    _ file: ID<File>, from start: Int = 0,
    progress: (@Sendable (_ received: Int, _ size: Int?) -> Void)? = nil,
    _ receive: ([UInt8]) async throws(ClientFault) -> Void
  ) async throws(ClientFault) {
    activity.begin()
    defer { activity.end() }
    var (offset, tries) = (start, 0)
    var tag: String?
    while true {
      var request = Request<RawResponse>.getFileContent(of: file)
      if offset > 0 { request.fields.append(TransportRequest.Field("Range", "bytes=\(offset)-")) }
      if let tag { request.fields.append(TransportRequest.Field("If-Range", tag)) }
      do throws(ClientFault) {
        let response = try await self.openResponse(to: request)
        // A 200 to a range request with If-Range means that the file has changed.
        guard response.status == (offset > 0 ? 206 : 200) else {
          throw .invalidResponse("unexpected range of the file")
        }
        let size = response["content-length"].flatMap { Int($0) }.map { $0 + offset }
        tag = response["etag"] ?? tag
        while let chunk = try await Self.next(response) {
          offset += chunk.count
          tries = 0
          try await receive(chunk)
          progress?(offset, size)
        }
        return
      } catch {
        tries += 1
        guard error.isTemporary, tries < Self.maxTransferAttempts else { throw error }
        do { try await retryPolicy.sleep(retryPolicy.delay(after: tries)) } catch { throw .cancelled }
      }
    }
  }

  /// A file on the server as the source of an upload, read in ranges.
  func source(of file: ID<File>) async throws(ClientFault) -> FileSource {
    let info = try await send(.getFile(file)).value
    return FileSource(name: info.name, size: info.size, type: info.type) { offset, count in
      guard count > 0, offset < info.size else { return [] }
      let end = min(info.size, offset + count)
      var request = Request<RawResponse>.getFileContent(of: file)
      request.fields.append(TransportRequest.Field("Range", "bytes=\(offset)-\(end - 1)"))
      // A response without the range is larger.
      request.maxResponseBytes = end - offset
      let body = try await self.send(request).body
      guard body.count == end - offset else { throw ClientFault.invalidResponse("not the range of the file") }
      return body
    }
  }

  private static func next(_ response: TransportResponse) async throws(ClientFault) -> [UInt8]? {
    do throws(TransportFailure) { return try await response.next() } catch { throw ClientFault(error) }
  }
}
