public import ParleyWire

extension WebAddress {
  /// Resolves a relative reference against this URL (RFC 3986 §5.2). The result is untrusted text.
  public func resolve(_ reference: String) -> String {
    let bare = String(reference.prefix { $0 != "#" })
    if bare.isEmpty { return description }
    if Self.hasScheme(bare) { return bare }
    if bare.hasPrefix("//") { return "\(scheme.rawValue):\(bare)" }
    if bare.hasPrefix("?") { return "\(origin)\(path)\(bare)" }
    let query = bare.firstIndex(of: "?") ?? bare.endIndex
    let (named, rest) = (bare[..<query], bare[query...])
    let folder = named.hasPrefix("/") ? "" : path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex)
    let whole = String(folder + named)
    return origin + Self.removeDotSegments(whole) + rest
  }

  private static func hasScheme(_ text: String) -> Bool {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), let first = text.utf8.first, ASCII.isAlpha(first)
    else { return false }
    return text.utf8[..<colon].allSatisfy {
      ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
        || $0 == UInt8(ascii: ".")
    }
  }

  /// RFC 3986 §5.2.4.
  private static func removeDotSegments(_ path: String) -> String {
    var kept: [Substring] = []
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for (index, part) in parts.enumerated() {
      let isLast = index == parts.count - 1
      switch part {
      case ".": if isLast { kept.append("") }
      case "..":
        if !kept.isEmpty { kept.removeLast() }
        if isLast { kept.append("") }
      default: kept.append(part)
      }
    }
    return "/" + kept.joined(separator: "/")
  }
}
