public import ParleyJSON

/// Matching message with its snippet.
public struct SearchHit: Sendable, Hashable {
  public let message: MessageView
  public let snippet: SearchSnippet

  public init(_ message: MessageView, _ snippet: SearchSnippet) {
    self.message = message
    self.snippet = snippet
  }
}

extension SearchHit: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("message", message)
      json.field("snippet", snippet)
    }
  }
}
