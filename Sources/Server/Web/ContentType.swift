import ParleyWire

/// A media type with its prebuilt Content-Type field.
public struct ContentType: Sendable {
  public let name: String
  /// Whether gzip makes it smaller.
  public let isCompressible: Bool
  /// Whether a browser may execute it, as a page or a worker, so that it needs a Content-Security-Policy.
  public let isExecutable: Bool
  let field: Fields

  public init(_ name: String, isCompressible: Bool, isExecutable: Bool = false) {
    self.name = name
    self.isCompressible = isCompressible
    self.isExecutable = isExecutable
    field = ["Content-Type": name]
  }

  public static let plainText = ContentType("text/plain; charset=utf-8", isCompressible: true)
  public static let html = ContentType("text/html; charset=utf-8", isCompressible: true, isExecutable: true)
  public static let javaScript = ContentType(
    "text/javascript; charset=utf-8", isCompressible: true, isExecutable: true)
  public static let json = ContentType("application/json", isCompressible: true)
  public static let problem = ContentType("application/problem+json", isCompressible: true)
  public static let bytes = ContentType("application/octet-stream", isCompressible: false)

  /// - Parameter ending: the file name extension, in lower case and without the dot.
  public static func forExtension(_ ending: String) -> ContentType {
    table[ending] ?? .bytes
  }

  /// Whether gzip reduces the size of this Content-Type.
  public static func isCompressible(_ contentType: String) -> Bool {
    let name = contentType.prefix { $0 != ";" }.lowercased()
    return name.hasPrefix("text/") && name != "text/event-stream" || name.hasSuffix("json") || name.hasSuffix("xml")
      || name == "application/javascript" || name == "application/wasm"
  }

  private static let table: [String: ContentType] = [
    "html": .html,
    "css": ContentType("text/css; charset=utf-8", isCompressible: true),
    "js": .javaScript,
    "mjs": .javaScript,
    "json": .json,
    "map": .json,
    "webmanifest": ContentType("application/manifest+json", isCompressible: true),
    "txt": .plainText,
    "md": ContentType("text/markdown; charset=utf-8", isCompressible: true),
    "csv": ContentType("text/csv; charset=utf-8", isCompressible: true),
    "xml": ContentType("application/xml", isCompressible: true),
    "svg": ContentType("image/svg+xml", isCompressible: true),
    "wasm": ContentType("application/wasm", isCompressible: true),
    "ico": ContentType("image/vnd.microsoft.icon", isCompressible: true),
    "png": ContentType("image/png", isCompressible: false),
    "jpg": ContentType("image/jpeg", isCompressible: false),
    "jpeg": ContentType("image/jpeg", isCompressible: false),
    "gif": ContentType("image/gif", isCompressible: false),
    "webp": ContentType("image/webp", isCompressible: false),
    "avif": ContentType("image/avif", isCompressible: false),
    "woff2": ContentType("font/woff2", isCompressible: false),
    "woff": ContentType("font/woff", isCompressible: false),
    "mp3": ContentType("audio/mpeg", isCompressible: false),
    "ogg": ContentType("audio/ogg", isCompressible: false),
    "opus": ContentType("audio/ogg", isCompressible: false),
    "mp4": ContentType("video/mp4", isCompressible: false),
    "webm": ContentType("video/webm", isCompressible: false),
    "pdf": ContentType("application/pdf", isCompressible: false),
    "zip": ContentType("application/zip", isCompressible: false),
    "gz": ContentType("application/gzip", isCompressible: false),
  ]
}
