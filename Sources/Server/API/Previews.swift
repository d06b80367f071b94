import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Previews
import Web

extension API {
  /// What stands behind a link. Nothing is kept of who asked.
  @Sendable static func createLinkPreview(_ context: RequestContext) async throws -> Response {
    let (url, keeps): (String, Bool) = try await context.body { body in
      (try body.string("url"), try body.optional("keep") ?? false)
    }
    guard try context.looksAtLinks, let previews = context.api.previews else { throw Refusal.forbidden }
    if keeps { _ = try context.caller.requireUser(.write) }
    let preview: LinkPreview
    do throws(PreviewFault) {
      preview = try await previews.preview(of: url)
    } catch .unreachable {
      throw Refusal.invalid("url", .unreachable)
    } catch .busy {
      throw Refusal.unavailable
    }
    let file = try await keeps ? context.keep(preview) : nil
    return .object { json in
      preview.fields(&json)
      json.field("file", file)
    }
  }

  /// Whoever has the key was given the preview.
  @Sendable static func getLinkPreviewPicture(_ context: RequestContext) async throws -> Response {
    guard let key = context.request.parameters["key"], let picture = context.api.previews?.picture(key) else {
      throw Refusal.notFound
    }
    return .picture(picture, caching: "private, max-age=3600, immutable")
  }
}

extension RequestContext {
  /// Whether the server asks others for users: the host and the staff both say yes.
  var looksAtLinks: Bool {
    get throws {
      guard api.previews != nil else { return false }
      return try view.getSettings().linkPreviews
    }
  }

  /// The picture as a file of who asks, as though they had uploaded it.
  fileprivate func keep(_ preview: LinkPreview) async throws -> File? {
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

  /// The picture at an address that users have given for something of theirs; nil where there is none to be had.
  func picture(at address: String) async throws -> PreviewPicture? {
    guard try looksAtLinks, let previews = api.previews else { return nil }
    do throws(PreviewFault) {
      let preview = try await previews.preview(of: address)
      return preview.isImage ? preview.picture : nil
    } catch { return nil }
  }
}

extension Response {
  /// A stranger's picture: opened by itself it runs nothing and has no origin.
  static func picture(_ picture: PreviewPicture, caching: String) -> Response {
    var response = Response(.ok, picture.bytes, type: ContentType(picture.mimeType, isCompressible: false))
    response.fields.add("Cache-Control", caching)
    response.fields.add("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
    return response.tagged(picture.key)
  }
}
