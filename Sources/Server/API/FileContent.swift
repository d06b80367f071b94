// The bytes of files as answers. Nothing that users upload runs in our name: whatever is no picture, sound or film is saved
// and not shown, nobody guesses types, and what a browser opens all the same has no origin and may do nothing.

import Community
import ParleyModel
import ParleyWire
import Web

enum FileContent {
  static let sides = 1...100_000
  /// Asked about each time, since rights change.
  static let caching = "private, no-cache"

  static func tag(_ digest: [UInt8]) -> String {
    digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// RFC 6266 with RFC 8187: the name in ASCII for old programs, and as it is.
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
  /// Whether the preview is at least so large: the smaller of the two that is enough is sent, and nothing is enlarged.
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
