import ParleyCrypto
import ParleyJSON

/// Signing in with a site, for other apps (OAuth 2.1 with PKCE): the address for the browser, the check of the redirect, and
/// the exchange for tokens. The platform's browser session, such as `ASWebAuthenticationSession`, shows the address.
///
///     let authorization = try AppAuthorization(
///       server: server, clientID: "71", redirectURI: "com.example.ferry:/callback", scope: "read")
///     let redirect = try await show(authorization.url)
///     let tokens = try await authorization.exchange(redirect, over: transport)
public struct AppAuthorization: Sendable, Hashable {
  /// The site.
  public let server: ServerAddress
  /// The id of the app on the site.
  public let clientID: String
  /// The registered address of the answer.
  public let redirectURI: String
  /// Such as `read` or `write forum:12`.
  public let scope: String
  /// The text that ties the answer to this request.
  public let state: String
  /// The PKCE code verifier (RFC 7636). The app sends it in the token request only.
  public let verifier: String

  /// A new authorization, with a verifier and a state of its own. Throws without random bytes of the system.
  public init(
    server: ServerAddress, clientID: String, redirectURI: String, scope: String = "read"
  ) throws(AppAuthorizationFault) {
    do {
      self.init(
        server: server, clientID: clientID, redirectURI: redirectURI, scope: scope,
        state: try Self.randomText(), verifier: try Self.randomText())
    } catch {
      throw .noRandomBytes
    }
  }

  /// A saved authorization.
  public init(
    server: ServerAddress, clientID: String, redirectURI: String, scope: String, state: String, verifier: String
  ) {
    self.server = server
    self.clientID = clientID
    self.redirectURI = redirectURI
    self.scope = scope
    self.state = state
    self.verifier = verifier
  }

  /// The address to open in a browser.
  public var url: String {
    let query = Self.form([
      ("response_type", "code"), ("client_id", clientID), ("redirect_uri", redirectURI), ("scope", scope),
      ("state", state), ("code_challenge", Self.challenge(of: verifier)), ("code_challenge_method", "S256"),
    ])
    return "\(server.origin)/oauth/authorize?\(query)"
  }

  /// Whether an address is the redirect URI with an answer.
  public func isRedirectURL(_ text: String) -> Bool {
    text.hasPrefix(redirectURI + (redirectURI.contains("?") ? "&" : "?"))
  }

  /// The code of a redirect. Throws the error that the site has sent, or `redirectMismatch` for a redirect of another request
  /// or of another site (RFC 9207).
  public func code(from redirect: String) throws(AppAuthorizationFault) -> String {
    guard isRedirectURL(redirect), let start = redirect.firstIndex(of: "?") else { throw .redirectMismatch }
    var values: [String: String] = [:]
    for pair in redirect[redirect.index(after: start)...].prefix(while: { $0 != "#" }).split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decode(parts[0]), let value = Self.decode(parts.count > 1 ? parts[1] : ""),
        values.updateValue(value, forKey: name) == nil
      else { throw .redirectMismatch }
    }
    guard values["state"] == state, values["iss"] == server.origin else { throw .redirectMismatch }
    if let error = values["error"] { throw .refused(error, values["error_description"] ?? "") }
    guard let code = values["code"], !code.isEmpty else { throw .redirectMismatch }
    return code
  }

  /// Exchanges the code of a redirect for tokens.
  ///
  /// - Parameter secret: the client secret of a confidential app.
  public func exchange(
    _ redirect: String, secret: String? = nil, over transport: any Transport
  ) async throws(AppAuthorizationFault) -> AppTokens {
    let code = try code(from: redirect)
    let answer = try await send(
      "/oauth/token",
      [
        ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURI),
        ("code_verifier", verifier),
      ], secret, transport)
    return try AppTokens(answer)
  }

  /// Exchanges a refresh token for new tokens. Never twice with the same token, not even in parallel: the second use of a
  /// refresh token ends the access.
  public func refresh(
    _ tokens: AppTokens, secret: String? = nil, over transport: any Transport
  ) async throws(AppAuthorizationFault) -> AppTokens {
    try AppTokens(
      try await send(
        "/oauth/token", [("grant_type", "refresh_token"), ("refresh_token", tokens.refreshToken)], secret, transport))
  }

  /// Ends the access, on the site as well.
  public func revoke(
    _ tokens: AppTokens, secret: String? = nil, over transport: any Transport
  ) async throws(AppAuthorizationFault) {
    _ = try await send("/oauth/revoke", [("token", tokens.refreshToken)], secret, transport)
  }

  // MARK: Requests

  /// Bytes of an answer.
  private static let maxAnswer = 65_536

  private func send(
    _ path: String, _ fields: [(String, String)], _ secret: String?, _ transport: any Transport
  ) async throws(AppAuthorizationFault) -> [UInt8] {
    let client = [("client_id", clientID)] + (secret.map { [("client_secret", $0)] } ?? [])
    let request = TransportRequest(
      method: "POST", origin: server.origin, target: path,
      fields: [
        TransportRequest.Field("Content-Type", "application/x-www-form-urlencoded"),
        TransportRequest.Field("Accept", "application/json"),
      ], body: .bytes(Array(Self.form(client + fields).utf8)))
    let (status, body): (Int, [UInt8])
    do throws(TransportFailure) {
      let response = try await transport.send(request)
      (status, body) = (response.status, try await response.body(limit: Self.maxAnswer))
    } catch {
      throw .failed(ClientFault(error))
    }
    guard status != 200 else { return body }
    throw AppAuthorizationFault(body, status)
  }

  // MARK: Texts

  /// 256 random bits, and so a verifier of 43 characters.
  private static func randomText() throws(CryptoError) -> String {
    let byteCount = 32
    return base64URL(try SecureRandom.bytes(byteCount))
  }

  static func challenge(of verifier: String) -> String {
    // Only a system without memory has no digest; the site then refuses the challenge.
    base64URL((try? Digest.sha256(of: Array(verifier.utf8))) ?? [])
  }

  private static func form(_ fields: [(String, String)]) -> String {
    fields.map { PercentEncoding.encode($0) + "=" + PercentEncoding.encode($1) }.joined(separator: "&")
  }

  private static func decode(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        continue
      }
      guard let escaped = Hex.bytes(String(decoding: rest.prefix(2), as: UTF8.self)), escaped.count == 1 else {
        return nil
      }
      bytes += escaped
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Base64 for URLs, without padding (RFC 4648 §5).
  private static func base64URL(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for index in 0...group.count { text.append(digits[bits >> (18 - 6 * index) & 63]) }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The tokens of an app.
public struct AppTokens: Sendable, Hashable {
  /// The token of `Client`.
  public let accessToken: String
  /// Valid once: the next answer has another one.
  public let refreshToken: String
  /// The access that the user has allowed.
  public let scope: String
  /// Seconds from the answer on.
  public let expiresIn: Int

  /// Stored tokens.
  public init(accessToken: String, refreshToken: String, scope: String, expiresIn: Int) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.scope = scope
    self.expiresIn = expiresIn
  }

  init(_ body: [UInt8]) throws(AppAuthorizationFault) {
    do throws(JSONError) {
      var object = try JSONValue(parsing: body).object()
      self.init(
        accessToken: try object.string("access_token"), refreshToken: try object.string("refresh_token"),
        scope: try object.string("scope"), expiresIn: try object.int("expires_in"))
    } catch {
      throw .failed(.invalidResponse("\(error)"))
    }
  }
}

/// The reason why an app has no tokens.
public enum AppAuthorizationFault: Error, Sendable, Hashable {
  /// The site or the user has refused, with an error of OAuth such as `access_denied` or `invalid_grant`.
  case refused(String, String)
  /// The redirect is of another request or of another site.
  case redirectMismatch
  /// The site can't be reached, or its answer can't be read.
  case failed(ClientFault)
  /// The system has no random bytes.
  case noRandomBytes

  /// A text for the user, in English.
  public var userMessage: String {
    switch self {
    case .refused("access_denied", _): "Access was denied."
    case .refused("invalid_grant", _): "The app is no longer connected. Connect it again."
    case .refused(let error, let description): description.isEmpty ? "The site refused the app: \(error)." : description
    case .redirectMismatch: "The response belongs to another request. Connect the app again."
    case .failed(let fault): fault.userMessage
    case .noRandomBytes: "The system has no random numbers. Try again."
    }
  }

  init(_ body: [UInt8], _ status: Int) {
    do throws(JSONError) {
      var object = try JSONValue(parsing: body).object()
      self = .refused(try object.string("error"), try object.optional("error_description") ?? "")
    } catch {
      self = .failed(.invalidResponse("status \(status)"))
    }
  }
}
