/// The text of one statement. A literal is told apart from made-up text by its type, so that nothing a person typed gets
/// into a statement by accident, and its address is its key in the cache.
///
///     try connection.all("select id from forum where slug = $1", slug) { row in try row.int(0) }
public struct SQL: ExpressibleByStringLiteral, Sendable {
  enum Source {
    case literal(StaticString)
    case text(String)
  }

  let source: Source

  public init(stringLiteral literal: StaticString) { source = .literal(literal) }

  /// For a statement that is put together from parts. What varies is bound, never part of the text.
  public init(_ text: String) { source = .text(text) }

  var text: String {
    switch source {
    case .literal(let literal): literal.description
    case .text(let text): text
    }
  }
}
