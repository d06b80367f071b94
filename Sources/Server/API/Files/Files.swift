import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func uploadFile(_ context: RequestContext) async throws -> Response {
    let body = try UploadBody(context)
    do {
      let (draft, file, preview) = try await body.read()
      let made = try await context.community.createFile(draft, of: file, preview: preview, by: context.caller)
      return .one(made.file, made.isNew ? .created : .ok)
    } catch {
      await body.discard()
      throw error
    }
  }

  /// Lists files by id, or the caller's files.
  @Sendable static func listFiles(_ context: RequestContext) async throws -> Response {
    let (ids, page, include): ([ID<File>]?, PageRequest, Set<Include>) = try context.query { query in
      (try query.ids(), try query.page(), try query.include())
    }
    if let ids {
      let found = try context.view.listFiles(ids, for: context.caller)
      return .list(found, try context.included(include, in: found))
    }
    return try .page(try context.view.listFiles(page, for: context.caller), including: include, context)
  }

  @Sendable static func getFile(_ context: RequestContext) async throws -> Response {
    let include = try context.query { query in try query.include() }
    let kept = try context.view.getFile(try context.id(), for: context.caller)
    let preview = kept.previewDigest.map { "-\(FileContent.tag($0))" } ?? ""
    return try .one(kept.file, tagged: "\(kept.file.id)\(preview)", including: include, context)
  }

  @Sendable static func deleteFile(_ context: RequestContext) async throws -> Response {
    try await context.community.deleteFile(try context.id(), by: context.caller)
    return Response(.noContent)
  }

  @Sendable static func getFileContent(_ context: RequestContext) async throws -> Response {
    let (link, width, height) = try context.query { query in
      (try query.text("link"), try query.int("w", in: FileContent.sides), try query.int("h", in: FileContent.sides))
    }
    let kept = try context.file(byLink: link)
    if kept.suffices(width: width, height: height) { return try .preview(of: kept, context) }
    return try .content(of: kept, context, caching: FileContent.caching)
  }

  @Sendable static func getFilePreview(_ context: RequestContext) async throws -> Response {
    let link = try context.query { query in try query.text("link") }
    return try .preview(of: try context.file(byLink: link), context)
  }

  @Sendable static func setFilePreview(_ context: RequestContext) async throws -> Response {
    let id: ID<File> = try context.id()
    let intake = try context.community.intake(
      for: context.caller, announced: context.request.body.contentLength, limit: context.community.bounds.previewBytes,
      context.view)
    do {
      try await context.forEachBodyChunk { chunk in try await intake.receive(chunk) }
      return .one(try await context.community.setFilePreview(intake, of: id, by: context.caller))
    } catch {
      await intake.discard()
      throw error
    }
  }

  @Sendable static func createFileLink(_ context: RequestContext) async throws -> Response {
    let id: ID<File> = try context.id()
    let link = try context.view.createFileLink(to: id, for: context.caller)
    return .object(.created) { json in
      json.field("url", "\(API.base)/files/\(id)/content?link=\(link.token)")
      json.field("preview_url", "\(API.base)/files/\(id)/preview?link=\(link.token)")
      json.field("expires_at", Timestamp(link.endsAt))
    }
  }
}

extension RequestContext {
  /// The file in the path, by a signed link or by the caller's permissions.
  fileprivate func file(byLink link: String?) throws -> KeptFile {
    guard let link else { return try view.getFile(try id(), for: caller) }
    return try view.getFile(try id(), byLink: link)
  }

  /// Streams the body. Checks the caller's session before each chunk, so that a revoked session ends the upload.
  func forEachBodyChunk(_ body: ([UInt8]) async throws -> Void) async throws {
    while let chunk = try await request.body.read() {
      guard try view.isSessionValid(caller) else {
        var problem = Problem.unauthenticated
        problem.closesConnection = true
        throw problem
      }
      try await body(chunk)
    }
  }
}
