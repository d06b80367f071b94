public import API
public import Web

/// The enabled dialects of a site.
public struct Dialects: Sendable {
  private var mormessages: MorMessages?
  private var pnut: Pnut?

  /// - Throws: if a dialect cannot be served.
  public init(_ enabled: Set<Dialect>, _ api: API) throws {
    for dialect in enabled {
      switch dialect {
      case .mormessages: mormessages = try MorMessages(api)
      case .pnut: pnut = try Pnut(api)
      }
    }
  }

  public func add(to routes: inout Router.Builder) {
    mormessages?.add(to: &routes)
    pnut?.add(to: &routes)
  }
}
