/// Emphasis with escape sequences (ECMA-48 §8.3.117), or none.
struct TextStyle {
  let isColored: Bool

  func bold(_ text: String) -> String { sequence("1", text) }
  func dim(_ text: String) -> String { sequence("2", text) }

  private func sequence(_ code: String, _ text: String) -> String {
    isColored && !text.isEmpty ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
  }
}
