public import ParleyMarkup
public import ParleyModel

/// Something with a text of somebody's, which is read in one way wherever it stands: a message, a draft, what a user or a
/// forum says of itself.
public protocol Textual {
  /// As it was written.
  var text: String { get }
}

extension Textual {
  /// As a page shows it, safe to put there.
  public var html: String { MarkupDocument(text).html }

  /// The mentions, hashtags and links in it, with their places. Whether a name is anybody's, the server knows.
  public var entities: [MarkupEntity] { MarkupDocument(text).entities }

  /// Without actions, in one line, for a notification or a list.
  public func plainText(limit: Int = .max) -> String { MarkupDocument(text).plainText(limit: limit) }
}

extension ShownMessage: Textual {}
extension Draft: Textual {}
extension MessageRevision: Textual {}

extension UserSummary: Textual {
  public var text: String { bio }
}

extension Forum: Textual {
  public var text: String { about }
}
