public import ParleyModel
import ParleyWire

/// An OpenID provider that signs users in, as the operator has named it.
public struct Issuer: Sendable, Hashable {
  /// In addresses of this site, such as `work`.
  public let id: String
  /// On buttons.
  public let name: String
  /// The identifier of the provider, byte by byte: `iss`.
  public let url: String
  public let clientID: String
  /// Nil for a public client.
  public let clientSecret: String?
  /// The claim with the groups of the user.
  public let groupsClaim: String
  /// The authentication context that a sign-in needs; nil for any.
  public let acr: String?
  /// Nil if the issuer gives no roles.
  public let roles: GroupRoles?
  /// Whether an address that the issuer has verified claims the imported user who had it.
  public let claimsImports: Bool

  public init(
    id: String, name: String, url: String, clientID: String, clientSecret: String?,
    groupsClaim: String = defaultGroupsClaim, acr: String? = nil, roles: GroupRoles? = nil,
    claimsImports: Bool = false
  ) {
    (self.id, self.name, self.url) = (id, name, url)
    (self.clientID, self.clientSecret) = (clientID, clientSecret)
    (self.groupsClaim, self.acr, self.roles) = (groupsClaim, acr, roles)
    self.claimsImports = claimsImports
  }

  public static let defaultGroupsClaim = "groups"
  public static let maxIDBytes = 32

  /// Whether the text is an id: lowercase letters, digits and hyphens.
  public static func isID(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= maxIDBytes
      && text.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
          || byte == UInt8(ascii: "-")
      }
  }

  /// Whether the text is an identifier (OpenID Connect Discovery §3): https without a query. Without TLS only at a loopback
  /// address.
  public static func isURL(_ text: String) -> Bool {
    guard let address = WebAddress(text), address.query == nil, !text.contains("?") else { return false }
    return isPermitted(address)
  }

  /// Whether requests may go to this address.
  static func isPermitted(_ address: WebAddress) -> Bool {
    switch address.scheme {
    case .https: true
    case .http:
      address.host == "localhost" || address.host == "[::1]"
        || address.host.hasPrefix("127.")
          && address.host.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: ".") }
    case .ws, .wss: false
    }
  }

  /// The address of the metadata (OpenID Connect Discovery §4).
  public var metadataURL: String {
    (url.hasSuffix("/") ? String(url.dropLast()) : url) + "/.well-known/openid-configuration"
  }

  /// The path of the redirect URI. Each issuer has its own, so that an answer of one is no answer of another (RFC 9700
  /// §4.4.2).
  public var callbackPath: String { "/oidc/\(id)/callback" }
  public var startPath: String { "/oidc/\(id)" }
  public var signUpPath: String { "/oidc/\(id)/sign-up" }
}

/// The roles that groups of an issuer give, up to admin.
public struct GroupRoles: Sendable, Hashable {
  /// Stands for each user of the issuer.
  public static let everyone = "*"
  /// The roles that may be given, the lowest first.
  public static let ranks: [Role] = [.guest, .member, .moderator, .admin]

  private var roles: [String: Role] = [:]

  public init() {}

  public subscript(_ group: String) -> Role? {
    get { roles[group] }
    set { roles[group] = newValue }
  }

  /// The highest role of the groups; nil for a user without a group that has one.
  public func role(of groups: [String]) -> Role? {
    (groups + [Self.everyone]).compactMap { roles[$0].flatMap(Self.ranks.firstIndex) }.max().map { Self.ranks[$0] }
  }
}
