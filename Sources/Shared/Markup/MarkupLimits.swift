/// Limits that bound the cost of parsing and rendering a text. A text over a limit is not rejected: the markup beyond
/// it is shown as text.
public enum MarkupLimits {
  /// Nested quotes and list items.
  public static let containers = 16
  /// Nested emphasis, strong emphasis, strikes and spoilers. Deeper delimiters are dropped, their text stays.
  public static let emphasis = 16
  /// Backticks that open a code span.
  public static let backticks = 32
  /// Bytes of a link's destination as written, and of a bare address.
  public static let address = 2_048
  /// Nested parentheses in a link's destination.
  public static let parentheses = 8
  /// The highest number of an attachment in `![description](attachment:1)`.
  public static let attachment = 99
  /// Characters of a name after `@`.
  public static let name = 64
  /// Scalars of a hashtag after `#`.
  public static let hashtag = 64
  /// Characters of the language of a code block.
  public static let language = 32
}
