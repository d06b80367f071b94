import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Previews
import Web

extension API {
  /// Returns the preview of a link. The caller is not recorded.
  @Sendable static func createLinkPreview(_ context: RequestContext) async throws -> Response {
    let (url, keeps): (String, Bool) = try await context.body { body in
      (try body.string("url"), try body.optional("keep") ?? false)
    }
    guard try context.linkPreviewsEnabled, let previews = context.api.previews else { throw Problem.previewsOff }
    if keeps { _ = try context.caller.requireUser(.write) }
    let preview: LinkPreview
    do throws(PreviewFault) {
      preview = try await previews.preview(of: url)
    } catch .unreachable {
      throw Refusal.invalid("url", .unreachable)
    } catch .busy {
      throw Refusal.unavailable
    }
    let file = try await keeps ? context.storePicture(of: preview) : nil
    return .object { json in
      preview.fields(&json)
      json.field("file", file)
    }
  }

  /// Returns a preview's picture. The unguessable key from the preview grants access.
  @Sendable static func getLinkPreviewPicture(_ context: RequestContext) async throws -> Response {
    guard let key = context.request.parameters["key"], let picture = context.api.previews?.picture(key) else {
      throw Refusal.notFound
    }
    return .picture(picture, caching: "private, max-age=3600, immutable")
  }
}

extension RequestContext {
  /// Whether the operator and the staff both enable link previews.
  var linkPreviewsEnabled: Bool {
    get throws {
      guard api.previews != nil else { return false }
      return try view.getSettings().linkPreviews
    }
  }

  /// Stores the picture as a file of the caller, like an upload.
  fileprivate func storePicture(of preview: LinkPreview) async throws -> File? {
    guard let picture = preview.picture else { return nil }
    let intake = try community.intake(for: caller, announced: picture.bytes.count, view)
    do {
      try await intake.receive(picture.bytes)
      let name = preview.title ?? preview.siteName ?? WebAddress(preview.url)?.host ?? "preview"
      return try await community.createFile(FileDraft(name: name), of: intake, by: caller).file
    } catch {
      await intake.discard()
      throw error
    }
  }

  /// Refuses an address in `field` where the server finds no picture. A server that opens no addresses of others accepts
  /// any, and serves a generated picture.
  package func requirePicture(at address: String, _ field: String) async throws {
    guard try linkPreviewsEnabled, let previews = api.previews else { return }
    do throws(PreviewFault) {
      if try await previews.preview(of: address).isImage { return }
    } catch .busy {
      throw Refusal.unavailable
    } catch .unreachable {}
    throw Refusal.invalid(field, .unreachable)
  }

  /// Fetches the picture at a user-supplied address; nil if previews are disabled or the fetch fails.
  func picture(at address: String) async throws -> PreviewPicture? {
    guard try linkPreviewsEnabled, let previews = api.previews else { return nil }
    do throws(PreviewFault) {
      let preview = try await previews.preview(of: address)
      return preview.isImage ? preview.picture : nil
    } catch { return nil }
  }
}

extension Response {
  /// A third-party picture. The sandbox prevents scripts if it is opened as a document.
  static func picture(_ picture: PreviewPicture, caching: String) -> Response {
    var response = Response(.ok, picture.bytes, type: ContentType(picture.mimeType, isCompressible: false))
    response.fields.add("Cache-Control", caching)
    response.fields.add("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
    return response.tagged(picture.key)
  }
}
