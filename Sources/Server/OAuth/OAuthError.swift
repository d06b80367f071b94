public import ParleyJSON
public import ParleyWire

/// An error of the protocol (RFC 6749 §4.1.2.1, §5.2; RFC 7591 §3.2.2).
public struct OAuthError: Error, Sendable, Hashable {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case invalidScope = "invalid_scope"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case unsupportedResponseType = "unsupported_response_type"
    case accessDenied = "access_denied"
    case serverError = "server_error"
    case temporarilyUnavailable = "temporarily_unavailable"
    case invalidRedirectURI = "invalid_redirect_uri"
    case invalidClientMetadata = "invalid_client_metadata"
  }

  public let code: Code
  /// A sentence for developers, of the characters that RFC 6749 permits.
  public let description: String

  public init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  public var status: Status {
    switch code {
    case .invalidClient: .unauthorized
    case .serverError: .internalServerError
    case .temporarilyUnavailable: .serviceUnavailable
    case .invalidRequest, .invalidGrant, .invalidScope, .unauthorizedClient, .unsupportedGrantType,
      .unsupportedResponseType, .accessDenied, .invalidRedirectURI, .invalidClientMetadata:
      .badRequest
    }
  }

  static func missing(_ name: String) -> OAuthError { OAuthError(.invalidRequest, "The parameter \(name) is missing.") }
}

extension OAuthError: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("error", code.rawValue)
      json.field("error_description", description)
    }
  }
}
