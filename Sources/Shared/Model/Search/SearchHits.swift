public import ParleyJSON

// Positions of a query's matches in a text, and its score. The text is matched again because the index stores no text.

extension SearchQuery {
  struct Hit: Hashable {
    /// Index into `wanted`.
    let term: Int
    /// Range of the matching words.
    let words: ClosedRange<Int>
  }

  /// In the order of the text.
  func hits(in words: [SearchWord]) -> [Hit] {
    var hits: [Hit] = []
    for position in words.indices {
      for (number, term) in wanted.enumerated() {
        guard let end = term.end(in: words, from: position) else { continue }
        hits.append(Hit(term: number, words: position...end))
      }
    }
    return hits
  }

  /// Relevance of a text: each term counts by its frequency, with diminishing weight, and less in a long text. It is
  /// BM25 without inverse document frequency, which is equal for all texts that match all terms.
  public func score(of text: String) -> Double {
    let words = SearchWord.words(of: text, max: Self.maxScoredWords)
    let length = 0.25 + 0.75 * Double(words.count) / Self.usualWords
    var counts = [Double](repeating: 0, count: wanted.count)
    for hit in hits(in: words) { counts[hit.term] += 1 }
    return counts.reduce(0) { $0 + $1 * 2.2 / ($1 + 1.2 * length) }
  }

  private static let usualWords = 16.0
  /// The beginning of a longer text is enough for its score.
  private static let maxScoredWords = 500
}

extension SearchQuery.Term {
  /// Index of the last word of the match that begins at `position`.
  func end(in all: [SearchWord], from position: Int) -> Int? {
    if forms.contains(all[position].text) { return position }
    guard position + words.count <= all.count else { return nil }
    for (offset, wanted) in words.enumerated() {
      let found = all[position + offset]
      let mayGoOn = isBeginning && offset == words.count - 1
      guard offset == 0 || found.followsRun == wanted.followsRun else { return nil }
      guard mayGoOn ? found.text.utf8.starts(with: wanted.text.utf8) : found.text == wanted.text else { return nil }
    }
    return position + words.count - 1
  }
}

extension SearchQuery {
  /// Whether the text contains all wanted terms and no excluded one.
  public func isFound(in text: String) -> Bool {
    let words = SearchWord.words(of: text)
    let isThere = { (term: Term) in words.indices.contains { term.end(in: words, from: $0) != nil } }
    return wanted.allSatisfy(isThere) && !excluded.contains(where: isThere)
  }
}

/// Matching message, or topic with a matching title, with its snippet.
public struct SearchHit: Sendable, Hashable {
  /// The found message or topic.
  public let subject: Subject
  /// The forum of a room or topic; nil for other conversations.
  public let forum: ID<Forum>?
  /// The best matching part of the text or title.
  public let snippet: SearchSnippet

  /// The object that a search has found.
  public enum Subject: Sendable, Hashable {
    /// A message that has the words.
    case message(MessageView)
    /// A topic with the words in its title.
    case topic(ID<Conversation>, title: String)
  }

  /// A hit with its snippet; `forum` is nil outside of forums.
  public init(_ subject: Subject, in forum: ID<Forum>?, _ snippet: SearchSnippet) {
    self.subject = subject
    self.forum = forum
    self.snippet = snippet
  }
}

/// The number of hits of each kind, up to a limit.
public struct SearchCounts: Sendable, Hashable {
  /// Topics that were found by their titles.
  public let topics: Int
  /// Messages that match.
  public let messages: Int

  /// The numbers of topics and messages.
  public init(topics: Int, messages: Int) {
    self.topics = topics
    self.messages = messages
  }
}

extension SearchCounts: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    topics = try object.int("topics")
    messages = try object.int("messages")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("topics", topics)
      json.field("messages", messages)
    }
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
      json.field("forum_id", forum)
      json.field("snippet", snippet)
    }
  }
}
