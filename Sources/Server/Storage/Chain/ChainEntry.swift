// The chain of a conversation. The creation and each change of a message append an entry, and the hash of an entry covers the
// entry and the hash before it:
//
//     h(0) = SHA-256("parley chain 1 " ‖ conversation ‖ LF)
//     h(n) = SHA-256(h(n−1) ‖ line(n))
//     line = position SP kind SP seq SP message SP actor SP time SP digest LF
//
// `position` is n, `time` milliseconds since 1970, `digest` the SHA-256 of a salt and the content, in hexadecimal, or `-`. The entry
// of a creation has the author and the time of the message. So an entry can't be altered, moved or left out without another last
// hash. A content that is erased takes its salt with it: the chain can still be checked and tells nothing about it.

import ParleyCrypto
import ParleyModel

struct ChainEntry {
  enum Kind: String, Sendable {
    case created, edited, deleted, restored

    /// The event that the log has for the same change.
    var event: Event.Kind {
      switch self {
      case .created: .messageCreated
      case .edited: .messageEdited
      case .deleted: .messageDeleted
      case .restored: .messageRestored
      }
    }
  }

  let kind: Kind
  /// The position of the message in its conversation.
  let seq: Int
  let message: Int
  /// The author of the message, or the user that changed it.
  let actor: Int
  let at: Int
  let proof: ContentProof?

  func line(at position: Int) -> String {
    "\(position) \(kind.rawValue) \(seq) \(message) \(actor) \(at) \(proof.map { Hex.text($0.digest) } ?? "-")\n"
  }
}

/// The end of the chain of a conversation.
struct ChainEnd: Sendable, Hashable {
  /// The number of messages with an entry for their creation: those up to this `seq`.
  var seq: Int
  /// The number of entries.
  var position: Int
  /// The hash of the last entry.
  var hash: [UInt8]

  init(seq: Int, position: Int, hash: [UInt8]) {
    self.seq = seq
    self.position = position
    self.hash = hash
  }

  /// The end of an empty chain.
  init(of conversation: Int) throws(CryptoError) {
    self.init(seq: 0, position: 0, hash: try Digest.sha256(of: Array("parley chain 1 \(conversation)\n".utf8)))
  }

  mutating func append(_ entry: ChainEntry) throws(CryptoError) {
    position += 1
    hash = try Digest.sha256(of: hash + Array(entry.line(at: position).utf8))
    if entry.kind == .created { seq = entry.seq }
  }
}
