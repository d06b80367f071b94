/// The HTTP and WebSocket interface of another system, for its unmodified clients.
public enum Dialect: String, Sendable, CaseIterable {
  case mormessages, pnut

  /// The system with this interface.
  public var system: String {
    switch self {
    case .mormessages: "MorMessages"
    case .pnut: "pnut"
    }
  }

  /// The addresses on a site with this origin, with what they are.
  public func addresses(at origin: String) -> [(name: String, address: String)] {
    switch self {
    case .mormessages:
      [
        ("REST", origin + MorMessages.rest),
        ("WebSocket", "ws" + origin.dropFirst("http".count) + MorMessages.websocket),
      ]
    case .pnut: [("REST", origin + Pnut.prefix)]
    }
  }

  /// The clients, with the settings that point them at the site.
  public var clients: [String] {
    switch self {
    case .mormessages: ["MorMessages for iOS: BaseUrl and BaseSocketUrl in ForumService.swift"]
    case .pnut: ["pnutpy: api_root and access_token of pnutpy.API.build_api"]
    }
  }

  /// The page that describes it.
  public var page: String { "/docs/\(rawValue)/" }
}
