public import API
public import Web

/// The enabled dialects of a site.
public struct Dialects: Sendable {
  private var mormessages: MorMessages?

  /// - Throws: if a dialect cannot be served.
  public init(_ enabled: Set<Dialect>, _ api: API) throws {
    for dialect in enabled {
      switch dialect {
      case .mormessages: mormessages = try MorMessages(api)
      }
    }
  }

  public func add(to routes: inout Router.Builder) { mormessages?.add(to: &routes) }
}
