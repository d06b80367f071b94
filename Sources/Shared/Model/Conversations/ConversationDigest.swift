public import ParleyJSON

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

extension ConversationDigest.Part: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("from_seq", seqs.lowerBound)
      json.field("to_seq", seqs.upperBound)
      json.field("digest", digest)
    }
  }
}
