public import ParleyWire

/// The response of `UntrustedClient.fetch`.
public struct UntrustedResponse: Sendable {
  /// The final URL after redirects.
  public let address: WebAddress
  public let type: MediaType
  /// At most as many bytes as `AcceptedContent` allows for the type.
  public let body: [UInt8]
}
