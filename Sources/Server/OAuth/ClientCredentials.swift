import ParleyJSON
import ParleyWire

/// The client of a request, with its secret if it has one (RFC 6749 §2.3.1).
public struct ClientCredentials: Sendable, Hashable {
  public let client: String
  public let secret: String?
  /// Whether they are in the field `Authorization`.
  public let isBasic: Bool

  /// - Parameter authorization: the field `Authorization`.
  public init(authorization: String?, _ parameters: OAuthParameters) throws(OAuthError) {
    guard let authorization else {
      guard let client = parameters["client_id"] else {
        throw OAuthError(.invalidClient, "The request names no client.")
      }
      (self.client, secret, isBasic) = (client, parameters["client_secret"], false)
      return
    }
    let scheme = "basic "
    guard authorization.lowercased().hasPrefix(scheme),
      let bytes = Base64.decode(String(authorization.dropFirst(scheme.count))),
      let text = String(validating: bytes, as: UTF8.self), let colon = text.firstIndex(of: ":"),
      let client = Self.decode(text[..<colon]), let secret = Self.decode(text[text.index(after: colon)...])
    else { throw OAuthError(.invalidClient, "The field Authorization can't be read.") }
    guard parameters["client_secret"] == nil else {
      throw OAuthError(.invalidRequest, "The client authenticates in two ways.")
    }
    if let named = parameters["client_id"], named != client {
      throw OAuthError(.invalidRequest, "The request names two clients.")
    }
    (self.client, self.secret, isBasic) = (client, secret.isEmpty ? nil : secret, true)
  }

  /// Both parts are encoded as in a form.
  private static func decode(_ text: Substring) -> String? {
    Percent.decode(String(text).replacing("+", with: " "))
  }
}
