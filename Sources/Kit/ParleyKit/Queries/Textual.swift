public import ParleyMarkup
public import ParleyModel

/// A value with a text in Markdown: a message, a draft, a user's bio, a forum's description.
public protocol Textual {
  /// The source text.
  var text: String { get }
}

extension Textual {
  /// The text as sanitized HTML.
  public var html: String { MarkupDocument(text).html }

  /// The mentions, hashtags and links with their positions. Only the server knows whether a mentioned user exists.
  public var entities: [MarkupEntity] { MarkupDocument(text).entities }

  /// The text without markup in a single line, for a notification or a list.
  public func plainText(limit: Int = .max) -> String { MarkupDocument(text).plainText(limit: limit) }
}

extension ShownMessage: Textual {}
extension Draft: Textual {}
extension MessageRevision: Textual {}

extension UserSummary: Textual {
  /// The text about the user.
  public var text: String { bio }
}

extension Forum: Textual {
  /// The text about the site.
  public var text: String { about }
}
