/// Text of one statement. Its type separates literals from composed text, so that user input never becomes part of a
/// statement by accident. The address of a literal is its key in the cache.
///
///     try connection.all("select id from forum where slug = $1", slug) { row in try row.int(0) }
public struct SQL: ExpressibleByStringLiteral, Sendable {
  enum Source {
    case literal(StaticString)
    case text(String)
  }

  let source: Source

  public init(stringLiteral literal: StaticString) { source = .literal(literal) }

  /// For statements composed of parts. Values are always bound, never part of the text.
  public init(_ text: String) { source = .text(text) }

  var text: String {
    switch source {
    case .literal(let literal): literal.description
    case .text(let text): text
    }
  }
}
