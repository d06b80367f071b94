public import ParleyJSON

/// Matching message, or topic with a matching title, with its snippet.
public struct SearchHit: Sendable, Hashable {
  public let subject: Subject
  public let snippet: SearchSnippet

  public enum Subject: Sendable, Hashable {
    case message(MessageView)
    case topic(ID<Conversation>, title: String)
  }

  public init(_ subject: Subject, _ snippet: SearchSnippet) {
    self.subject = subject
    self.snippet = snippet
  }
}

extension SearchHit: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      switch subject {
      case .message(let view):
        json.field("message", view)
        json.field("conversation_id", view.message.conversation)
        json.null("title")
      case .topic(let id, let title):
        json.null("message")
        json.field("conversation_id", id)
        json.field("title", title)
      }
      json.field("snippet", snippet)
    }
  }
}
