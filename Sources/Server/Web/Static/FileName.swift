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

  /// Whether the name has a content hash between two dots, as in `app.3f9a2c1b.js` or `app.MNE5R7JO.js`.
  var isHashed: Bool {
    guard let name = parts.last else { return false }
    let middle = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().dropLast()
    return middle.contains { Self.isHexadecimalHash($0.utf8) || Self.isBase32Hash($0.utf8) }
  }

  /// 8 to 64 digits. They must include a letter and a digit, since `20240101` is a date.
  private static func isHexadecimalHash(_ part: Substring.UTF8View) -> Bool {
    (8...64).contains(part.count) && part.allSatisfy { ASCII.hexValue($0) != nil }
      && part.contains(where: ASCII.isDigit) && part.contains(where: ASCII.isAlpha)
  }

  /// The 8 characters of base 32 that esbuild writes.
  private static func isBase32Hash(_ part: Substring.UTF8View) -> Bool {
    part.count == 8 && part.contains(where: ASCII.isAlpha)
      && part.allSatisfy {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains($0)
      }
  }

  /// The extension in lower case.
  private static func ending(of name: String) -> String {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return "" }
    return name[name.utf8.index(after: dot)...].lowercased()
  }
}
