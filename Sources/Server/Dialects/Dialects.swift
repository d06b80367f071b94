public import API
public import Web

/// The dialects of a site.
public struct Dialects: Sendable {
  private let enabled: Set<Dialect>

  public init(_ enabled: Set<Dialect> = []) { self.enabled = enabled }

  /// Adds the routes of the enabled dialects.
  public func add(to routes: inout Router.Builder, _ api: API) {
    for dialect in Dialect.allCases where enabled.contains(dialect) {
      switch dialect {
      case .mormessages: MorMessages(api).add(to: &routes)
      }
    }
  }
}
