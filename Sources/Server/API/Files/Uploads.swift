// Resumable uploads as in the tus.io protocol: create, append at an offset, get the offset, cancel.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func createUpload(_ context: RequestContext) async throws -> Response {
    let (draft, size) = try await context.body { body in try FileDraft.upload(&body) }
    let upload = try await context.community.createUpload(draft, size: size, by: context.caller)
    var response = Response.one(upload, .created).at(upload)
    response.fields.add("Location", "\(API.base)/uploads/\(upload.id)")
    return response
  }

  @Sendable static func getUpload(_ context: RequestContext) async throws -> Response {
    let upload = try await context.community.getUpload(try context.id(), for: context.caller, context.view)
    var response = Response.one(upload).at(upload)
    response.fields.set("cache-control", "no-store")
    return response
  }

  /// Appends to an upload. The response to the last part is the file.
  @Sendable static func appendToUpload(_ context: RequestContext) async throws -> Response {
    let id: ID<Upload> = try context.id()
    guard let text = context.request.fields["upload-offset"], let offset = Int(text), offset >= 0,
      String(offset) == text
    else { throw Refusal.invalid("Upload-Offset", context.request.fields.has("upload-offset") ? .invalid : .missing) }
    do {
      let turn = try await context.community.appendToUpload(id, at: offset, by: context.caller, context.view)
      do {
        try await context.forEachBodyChunk { chunk in try await turn.receive(chunk) }
      } catch {
        await turn.suspend()
        throw error
      }
      let (upload, made) = try await turn.end(by: context.caller)
      guard let made else { return Response(.noContent).at(upload) }
      return .one(made.file, .created).at(upload)
    } catch Refusal.conflict {
      // The response has the offset to resume at.
      var problem = Problem(Refusal.conflict)
      let upload = try await context.community.getUpload(id, for: context.caller, context.view)
      problem.fields.add("Upload-Offset", "\(upload.offset)")
      throw problem
    }
  }

  @Sendable static func cancelUpload(_ context: RequestContext) async throws -> Response {
    try await context.community.cancelUpload(try context.id(), by: context.caller)
    return Response(.noContent)
  }
}

extension Response {
  fileprivate func at(_ upload: Upload) -> Response {
    var response = self
    response.fields.add("Upload-Offset", "\(upload.offset)")
    response.fields.add("Upload-Length", "\(upload.size)")
    return response
  }
}
