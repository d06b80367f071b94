/// What a text is held to so that no text is dear to read, to draw or to walk. Over a limit nothing is refused: the marks
/// are shown as the text that they are.
public enum MarkupLimits {
  /// Quotes and list items inside one another.
  public static let containers = 16
  /// Emphasis, strong emphasis, strikes and spoilers inside one another. Deeper marks leave no trace, their text stays.
  public static let marks = 16
  /// Backticks that open a code span.
  public static let backticks = 32
  /// Bytes of a link's destination as written, and of a bare address.
  public static let address = 2_048
  /// Parentheses inside one another in a link's destination.
  public static let parentheses = 8
  /// Characters of a name after `@`.
  public static let name = 64
  /// Scalars of a hashtag after `#`.
  public static let hashtag = 64
  /// Characters of the language of a code block.
  public static let language = 32
}
