/// A fingerprint of a stretch of a conversation, and of the parts of it: two copies that have the same hold the same.
public struct ConversationDigest: Sendable, Hashable {
  /// SHA-256 in hex.
  public var digest: String
  public var parts: [Part]
  /// The event that was the log's last when it was taken.
  public var lastEvent: Int

  public init(digest: String, parts: [Part], lastEvent: Int) {
    self.digest = digest
    self.parts = parts
    self.lastEvent = lastEvent
  }

  public struct Part: Sendable, Hashable {
    public var seqs: ClosedRange<Int>
    public var digest: String

    public init(_ seqs: ClosedRange<Int>, digest: String) {
      self.seqs = seqs
      self.digest = digest
    }
  }
}
