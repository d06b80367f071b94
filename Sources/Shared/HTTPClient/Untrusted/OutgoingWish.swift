import ParleyWire

/// What is wanted of an address: media types, and how much of each is read.
public struct OutgoingWish: Sendable {
  let accept: String
  private let kinds: [Kind]

  public struct Kind: Sendable {
    /// `text/html`, or `image/` for all of them.
    let type: String
    let most: Int
    /// Whether the beginning will do; what is longer is `tooLarge` otherwise.
    let mayBeCut: Bool

    public init(_ type: String, most: Int, mayBeCut: Bool = false) {
      self.type = type
      self.most = most
      self.mayBeCut = mayBeCut
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
