import ParleyWire

/// The media types that a fetch accepts, and how many bytes of each it reads.
public struct AcceptedContent: Sendable {
  let accept: String
  private let kinds: [Kind]

  public struct Kind: Sendable {
    /// `text/html`, or `image/` for all images.
    let type: String
    let maxBytes: Int
    /// Whether a longer body is truncated; otherwise it is `tooLarge`.
    let mayTruncate: Bool

    public init(_ type: String, maxBytes: Int, mayTruncate: Bool = false) {
      self.type = type
      self.maxBytes = maxBytes
      self.mayTruncate = mayTruncate
    }
  }

  public init(accept: String, _ kinds: [Kind]) {
    self.accept = accept
    self.kinds = kinds
  }

  func kind(of type: MediaType) -> Kind? {
    kinds.first { $0.type.hasSuffix("/") ? type.essence.hasPrefix($0.type) : type.essence == $0.type }
  }
}
