// Large files in parts, as tus.io does it: begin, send from an offset on, ask how far it has come, give up.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func startUpload(_ call: Call) async throws -> Response {
    let (draft, size) = try await call.body { body in try FileDraft.upload(&body) }
    let upload = try await call.community.startUpload(draft, size: size, by: call.caller)
    var response = Response.one(upload, .created).at(upload)
    response.fields.add("Location", "\(API.base)/uploads/\(upload.id)")
    return response
  }

  @Sendable static func showUpload(_ call: Call) async throws -> Response {
    let upload = try await call.community.upload(try call.id(), for: call.caller, call.view)
    var response = Response.one(upload).at(upload)
    response.fields.set("cache-control", "no-store")
    return response
  }

  /// Goes on with one. The answer to the last part is the file.
  @Sendable static func continueUpload(_ call: Call) async throws -> Response {
    let id: ID<Upload> = try call.id()
    guard let text = call.request.fields["upload-offset"], let offset = Int(text), offset >= 0, String(offset) == text
    else { throw Refusal.invalid("Upload-Offset", call.request.fields.has("upload-offset") ? .invalid : .missing) }
    do {
      let turn = try await call.community.resume(id, at: offset, by: call.caller, call.view)
      do {
        try await call.eachPiece { piece in try await turn.take(piece) }
      } catch {
        await turn.breakOff()
        throw error
      }
      let (upload, made) = try await turn.end(by: call.caller)
      guard let made else { return Response(.noContent).at(upload) }
      return .one(made.file, .created).at(upload)
    } catch Refusal.conflict {
      // Where it goes on.
      var problem = Problem(Refusal.conflict)
      let upload = try await call.community.upload(id, for: call.caller, call.view)
      problem.fields.add("Upload-Offset", "\(upload.offset)")
      throw problem
    }
  }

  @Sendable static func deleteUpload(_ call: Call) async throws -> Response {
    try await call.community.deleteUpload(try call.id(), by: call.caller)
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
