// File contents as responses. Uploaded files never run in our origin: files other than images, audio and video are sent
// as attachments, the type is never sniffed, and a sandbox policy without an origin covers files that a browser opens.

import Community
import ParleyModel
import ParleyWire
import Web

enum FileContent {
  static let sides = 1...100_000
  /// Revalidated with each request, since permissions change.
  static let caching = "private, no-cache"

  static func tag(_ digest: [UInt8]) -> String {
    digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// `Content-Disposition` (RFC 6266) with the name in ASCII for old clients and in full (RFC 8187).
  static func disposition(_ name: String, isInline: Bool) -> String {
    let plain = name.unicodeScalars.map { scalar in
      scalar.isASCII && scalar.value >= 32 && scalar.value < 127 && !"\"\\/%".unicodeScalars.contains(scalar)
        ? Character(scalar) : "_"
    }
    let kind = isInline ? "inline" : "attachment"
    return "\(kind); filename=\"\(String(plain))\"; filename*=UTF-8''\(Percent.encode(name))"
  }
}

extension KeptFile {
  /// Whether the preview has at least this size. The smaller sufficient image is sent; images are never enlarged.
  func suffices(width: Int?, height: Int?) -> Bool {
    guard width != nil || height != nil, file.kind == "image", let preview = file.preview else {
      return false
    }
    return preview.width >= width ?? 0 && preview.height >= height ?? 0
  }
}

extension Response {
  static func content(of kept: KeptFile, _ context: RequestContext, caching: String) throws -> Response {
    let file = kept.file
    return try stored(file.digest, file.mimeType, named: file.name, context, caching)
  }

  static func preview(of kept: KeptFile, _ context: RequestContext) throws -> Response {
    guard let digest = kept.previewDigest, let preview = kept.file.preview else { throw Refusal.notFound }
    return try stored(digest, preview.mimeType, named: kept.file.name, context, FileContent.caching)
  }

  private static func stored(
    _ digest: [UInt8], _ mimeType: String, named name: String, _ context: RequestContext, _ caching: String
  ) throws -> Response {
    guard let file = OpenFile(context.community.path(ofContent: digest)) else {
      var problem = Problem.unavailable
      problem.cause = "the content \(FileContent.tag(digest)) is not there"
      throw problem
    }
    let isInline = context.community.isShownInline(mimeType)
    return try .file(
      file, ContentType(mimeType, isCompressible: false), tag: EntityTag(FileContent.tag(digest)),
      fields: [
        "Content-Disposition": FileContent.disposition(name, isInline: isInline),
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox", "Cache-Control": caching,
      ], for: context.request, now: context.server.now)
  }
}
