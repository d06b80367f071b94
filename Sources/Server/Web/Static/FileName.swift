import ParleyWire

/// What a path asks for in a folder of files; nil for what no file may be called: a step up, a hidden file, a slash in
/// disguise.
struct FileName {
  /// One spelling for each file: the path with only those bytes escaped that have to be.
  let path: String
  /// Folders and the file.
  let parts: [String]
  let type: ContentType

  /// A folder's own page.
  private static let index = "index.html"

  init?(_ path: String) {
    let url: URLPath
    do { url = try URLPath(path) } catch { return nil }
    // By bytes: to Swift, a dot with an accent is another character.
    guard url.segments.allSatisfy({ $0.utf8.first != UInt8(ascii: ".") }) else { return nil }
    let end = url.endsInSlash && !url.segments.isEmpty ? "/" : ""
    self.path = "/" + Percent.encode(url.segments.joined(separator: "/"), allowing: .path) + end
    parts = url.endsInSlash ? url.segments + [Self.index] : url.segments
    type = ContentType.forExtension(Self.ending(of: parts.last ?? ""))
  }

  /// Where the same would lie gzipped.
  var gzipParts: [String] { parts.dropLast() + parts.suffix(1).map { $0 + ".gz" } }

  /// Whether the name changes with the content, as in `app.3f9a2c1b.js`: between the first dot and the last stands a
  /// part of 8 to 64 hexadecimal digits. Both letters and figures, since `20240101` is a date.
  var isHashed: Bool {
    guard let name = parts.last else { return false }
    return name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().dropLast().contains { part in
      (8...64).contains(part.utf8.count) && part.utf8.allSatisfy { ASCII.hexValue($0) != nil }
        && part.utf8.contains(where: ASCII.isDigit) && part.utf8.contains(where: ASCII.isAlpha)
    }
  }

  /// What stands behind the last dot, in lower case.
  private static func ending(of name: String) -> String {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return "" }
    return name[name.utf8.index(after: dot)...].lowercased()
  }
}
