public import ParleyJSON

/// Digest of a range of a conversation and of its parts. Copies with equal digests have equal content.
public struct ConversationDigest: Sendable, Hashable {
  /// SHA-256 in hex.
  public var digest: String
  public var parts: [Part]
  /// Last event of the log when the digest was computed.
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

extension ConversationDigest.Part: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("from_seq", seqs.lowerBound)
      json.field("to_seq", seqs.upperBound)
      json.field("digest", digest)
    }
  }
}
