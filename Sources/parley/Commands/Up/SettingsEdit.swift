/// A change of the settings file that keeps its other lines and comments.
struct SettingsEdit {
  /// Names and their new values; nil turns a line into a comment.
  let changes: [(name: String, value: String?)]

  func apply(to text: String) -> String {
    // Windows ends lines with CR LF, which is one character.
    var lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    if lines.last == "" { lines.removeLast() }
    for (name, value) in changes {
      let active = lines.indices.filter { Self.name(of: lines[$0]) == name }
      guard let value else {
        for index in active { lines[index] = "#" + lines[index] }
        continue
      }
      let line = "\(name) = \(value)"
      if let first = active.first {
        if Self.value(of: lines[first]) != value || active.count > 1 { lines[first] = line }
        for index in active.dropFirst() { lines[index] = "#" + lines[index] }
      } else if let comment = lines.firstIndex(where: { $0 == "#" + line }) {
        lines[comment] = line
      } else if let example = lines.firstIndex(where: { $0.hasPrefix("#") && Self.name(of: $0.dropFirst()) == name }) {
        lines.insert(line, at: example + 1)
      } else {
        lines.append(line)
      }
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The name that a line sets; nil for a comment.
  private static func name(of line: some StringProtocol) -> String? {
    guard let equals = line.firstIndex(of: "=") else { return nil }
    let name = String(line[..<equals].filter { !$0.isWhitespace && $0 != "\u{feff}" })
    return name.hasPrefix("#") || name.isEmpty ? nil : name
  }

  private static func value(of line: String) -> String {
    line[line.index(after: line.firstIndex(of: "=") ?? line.startIndex)...].trimmingBlanks
  }
}
