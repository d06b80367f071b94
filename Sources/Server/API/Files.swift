import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func uploadFile(_ call: Call) async throws -> Response {
    let body = try UploadBody(call)
    do {
      let (draft, file, preview) = try await body.read()
      let made = try await call.community.makeFile(draft, of: file, preview: preview, by: call.caller)
      return .one(made.file, made.isNew ? .created : .ok)
    } catch {
      await body.discard()
      throw error
    }
  }

  /// By their ids, or one's own.
  @Sendable static func listFiles(_ call: Call) async throws -> Response {
    let (ids, limit, next): ([ID<File>]?, Int, ID<File>?) = try call.query { query in
      (try query.ids(), try query.limit(), try query.id("next"))
    }
    if let ids { return .page(try call.view.files(ids, for: call.caller), next: nil) }
    let found = try call.view.ownFiles(before: next, limit: limit, for: call.caller)
    return .page(found, limit: limit) { $0.id.description }
  }

  @Sendable static func showFile(_ call: Call) async throws -> Response {
    let kept = try call.view.file(try call.id(), for: call.caller)
    let preview = kept.previewDigest.map { "-\(FileContent.tag($0))" } ?? ""
    return .one(kept.file).tagged("\(kept.file.id)\(preview)")
  }

  @Sendable static func deleteFile(_ call: Call) async throws -> Response {
    try await call.community.delete(try call.id() as ID<File>, by: call.caller)
    return Response(.noContent)
  }

  @Sendable static func showContent(_ call: Call) async throws -> Response {
    let (link, width, height) = try call.query { query in
      (try query.text("link"), try query.int("w", in: FileContent.sides), try query.int("h", in: FileContent.sides))
    }
    let kept = try call.file(byLink: link)
    if kept.suffices(width: width, height: height) { return try .preview(of: kept, call) }
    return try .content(of: kept, call, caching: FileContent.caching)
  }

  @Sendable static func showPreview(_ call: Call) async throws -> Response {
    let link = try call.query { query in try query.text("link") }
    return try .preview(of: try call.file(byLink: link), call)
  }

  @Sendable static func setPreview(_ call: Call) async throws -> Response {
    let id: ID<File> = try call.id()
    let intake = try call.community.intake(
      for: call.caller, announced: call.request.body.announced, limit: call.community.bounds.previewBytes, call.view)
    do {
      try await call.eachPiece { piece in try await intake.take(piece) }
      return .one(try await call.community.setPreview(intake, of: id, by: call.caller))
    } catch {
      await intake.discard()
      throw error
    }
  }

  @Sendable static func makeLink(_ call: Call) async throws -> Response {
    let id: ID<File> = try call.id()
    let link = try await call.community.link(to: id, for: call.caller)
    return .object(.created) { json in
      json.field("url", "\(API.base)/files/\(id)/content?link=\(link.token)")
      json.field("preview_url", "\(API.base)/files/\(id)/preview?link=\(link.token)")
      json.field("ends_at", Timestamp(link.endsAt))
    }
  }
}

extension Call {
  /// The file of the path: by a signed address, or as the caller may read it.
  fileprivate func file(byLink link: String?) throws -> KeptFile {
    guard let link else { return try view.file(try id(), for: caller) }
    return try view.file(try id(), byLink: link)
  }

  /// Takes the body as it comes, for as long as the caller may send it: whoever is put out meanwhile is heard no further.
  func eachPiece(_ take: ([UInt8]) async throws -> Void) async throws {
    while let piece = try await request.body.read() {
      guard try view.isStillIn(caller) else {
        var problem = Problem.unauthenticated
        problem.closesConnection = true
        throw problem
      }
      try await take(piece)
    }
  }
}
