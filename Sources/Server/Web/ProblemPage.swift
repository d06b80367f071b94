import ParleyWire

extension Problem {
  /// A problem document for programs, or an HTML page for browsers.
  func response(id: RequestID, origin: String, to head: RequestHead) -> Response {
    var response = Self.wantsPage(head) ? page(id: id) : self.response(id: id, origin: origin)
    if head.method == .get || head.method == .head { response.fields.add("Vary", "Accept") }
    return response
  }

  /// A browser prefers HTML when it navigates; `fetch` in a script does not.
  private static func wantsPage(_ head: RequestHead) -> Bool {
    guard head.method == .get || head.method == .head, head.fields.has("accept") else { return false }
    let types = Accept.types(head.fields)
    let html = types.weight(ofType: "text", "html")
    return html > types.weight(ofType: "application", "problem+json")
      && html > types.weight(ofType: "application", "json")
  }

  private func page(id: RequestID) -> Response {
    let html = """
      <!doctype html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(Self.escaped(title))</title>
      <h1>\(Self.escaped(title))</h1>
      <p>\(detail.map(Self.escaped) ?? "")
      <p><a href="/">To the first page</a>
      <p><small>\(status.code) · \(id)</small>

      """
    return response(Array(html.utf8), type: .html)
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
