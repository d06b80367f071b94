public import ParleyWire

/// What was fetched.
public struct OutgoingAnswer: Sendable {
  /// Where it was in the end, after redirects.
  public let address: WebAddress
  public let type: MediaType
  /// As much of it as was wished for.
  public let body: [UInt8]
}
