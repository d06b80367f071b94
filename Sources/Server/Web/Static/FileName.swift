import ParleyWire

/// The file that a URL path names. Rejects `..`, hidden files and escaped slashes.
struct FileName {
  /// The canonical path: only required escapes.
  let path: String
  /// Names of the folders and the file.
  let parts: [String]
  let type: ContentType

  /// The index page of a folder.
  private static let index = "index.html"

  init?(_ path: String) {
    let url: URLPath
    do { url = try URLPath(path) } catch { return nil }
    // Compares bytes: a dot with a combining accent is a different Swift Character.
    guard url.segments.allSatisfy({ $0.utf8.first != UInt8(ascii: ".") }) else { return nil }
    let end = url.endsInSlash && !url.segments.isEmpty ? "/" : ""
    self.path = "/" + Percent.encode(url.segments.joined(separator: "/"), allowing: .path) + end
    parts = url.endsInSlash ? url.segments + [Self.index] : url.segments
    type = ContentType.forExtension(Self.ending(of: parts.last ?? ""))
  }

  /// The name of a precompressed file.
  var gzipParts: [String] { parts.dropLast() + parts.suffix(1).map { $0 + ".gz" } }

  /// Whether the name has a content hash, as in `app.3f9a2c1b.js`: a part of 8 to 64 hexadecimal digits between two
  /// dots. It must have letters and digits, since `20240101` is a date.
  var isHashed: Bool {
    guard let name = parts.last else { return false }
    return name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().dropLast().contains { part in
      (8...64).contains(part.utf8.count) && part.utf8.allSatisfy { ASCII.hexValue($0) != nil }
        && part.utf8.contains(where: ASCII.isDigit) && part.utf8.contains(where: ASCII.isAlpha)
    }
  }

  /// The extension in lower case.
  private static func ending(of name: String) -> String {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return "" }
    return name[name.utf8.index(after: dot)...].lowercased()
  }
}
