public import ParleyJSON

/// Digest of a range of a conversation and of its parts. Copies with equal digests have equal content.
public struct ConversationDigest: Sendable, Hashable {
  /// SHA-256 in hex.
  public var digest: String
  /// Digests of consecutive ranges, of which the sizes differ by at most one message.
  public var parts: [Part]
  /// Last event of the log when the digest was computed.
  public var lastEvent: Int

  /// The digest of a range and of its parts, for comparison with a copy.
  public init(digest: String, parts: [Part], lastEvent: Int) {
    self.digest = digest
    self.parts = parts
    self.lastEvent = lastEvent
  }

  /// A range of the messages of a conversation, with its digest.
  public struct Part: Sendable, Hashable {
    /// The first and the last `seq` of the range.
    public var seqs: ClosedRange<Int>
    /// The SHA-256 of the range in hex.
    public var digest: String

    /// The digest of one range, from the first to the last `seq`.
    public init(_ seqs: ClosedRange<Int>, digest: String) {
      self.seqs = seqs
      self.digest = digest
    }
  }
}

extension ConversationDigest.Part: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("from_seq", seqs.lowerBound)
      json.field("to_seq", seqs.upperBound)
      json.field("digest", digest)
    }
  }
}
