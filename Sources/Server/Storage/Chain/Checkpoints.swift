// Checkpoints of chains, which the key of the site signs. Several are signed at once: they are the leaves of a Merkle tree, and the
// signature is over its root.
//
//     leaf = SHA-256(0x00 ‖ conversation SP position SP hash SP time LF)
//     node = SHA-256(0x01 ‖ left ‖ right)
//     signature = Ed25519("parley checkpoint 1" ‖ LF ‖ root)
//
// A node without a right neighbor moves up as it is.

public import ParleyCrypto
public import ParleyModel
import ParleySQLite

/// The end of a chain that is to be signed.
public struct ChainState: Sendable, Hashable {
  public let conversation: ID<Conversation>
  /// The number of entries.
  public let position: Int
  public let hash: [UInt8]

  init(_ conversation: ID<Conversation>, _ end: ChainEnd) {
    self.conversation = conversation
    position = end.position
    hash = end.hash
  }

  fileprivate func leaf(signedAt time: Int64) throws(CryptoError) -> [UInt8] {
    try Checkpoint.leaf(conversation, position, Hex.text(hash), signedAt: time)
  }
}

extension Checkpoint {
  private static let preamble = Array("parley checkpoint 1\n".utf8)

  fileprivate static func leaf(
    _ conversation: ID<Conversation>, _ position: Int, _ hash: String, signedAt time: Int64
  ) throws(CryptoError) -> [UInt8] {
    try Digest.sha256(of: [0] + Array("\(conversation) \(position) \(hash) \(time)\n".utf8))
  }

  private static func node(_ left: [UInt8], _ right: [UInt8]) throws(CryptoError) -> [UInt8] {
    try Digest.sha256(of: [1] + left + right)
  }

  /// Signs the ends of several chains at once.
  public static func signed(
    _ states: [ChainState], at time: Int64, by key: Ed25519
  ) throws(CryptoError) -> [Checkpoint] {
    var level = try states.map { state throws(CryptoError) in try state.leaf(signedAt: time) }
    var paths = [[Neighbor]](repeating: [], count: states.count)
    // The leaves below each node of the level.
    var leaves = states.indices.map { $0..<$0 + 1 }
    while level.count > 1 {
      var (nextLevel, nextLeaves): ([[UInt8]], [Range<Int>]) = ([], [])
      for left in stride(from: 0, to: level.count, by: 2) {
        guard left + 1 < level.count else {
          nextLevel.append(level[left])
          nextLeaves.append(leaves[left])
          continue
        }
        for leaf in leaves[left] { paths[leaf].append(Neighbor(.right, hash: Hex.text(level[left + 1]))) }
        for leaf in leaves[left + 1] { paths[leaf].append(Neighbor(.left, hash: Hex.text(level[left]))) }
        nextLevel.append(try node(level[left], level[left + 1]))
        nextLeaves.append(leaves[left].lowerBound..<leaves[left + 1].upperBound)
      }
      (level, leaves) = (nextLevel, nextLeaves)
    }
    guard let root = level.first else { return [] }
    let signature = Hex.text(try key.signature(of: preamble + root))
    return zip(states, paths).map { state, path in
      Checkpoint(
        conversation: state.conversation, position: state.position, hash: Hex.text(state.hash), signedAt: time,
        path: path, key: Hex.text(key.point), signature: signature)
    }
  }

  /// Whether the key that it names has signed it.
  public var isSigned: Bool {
    guard let key = Hex.bytes(key), let signature = Hex.bytes(signature), let root = try? root() else { return false }
    return Ed25519.isPoint(key) && Ed25519.isSignature(signature, of: Self.preamble + root, by: key)
  }

  /// Nil if a neighbor has no hash.
  private func root() throws(CryptoError) -> [UInt8]? {
    var node = try Self.leaf(conversation, position, hash, signedAt: signedAt)
    for neighbor in path {
      guard let other = Hex.bytes(neighbor.hash), other.count == Digest.Algorithm.sha256.byteCount else { return nil }
      switch neighbor.side {
      case .left: node = try Self.node(other, node)
      case .right: node = try Self.node(node, other)
      }
    }
    return node
  }
}

extension ReadTransaction {
  /// The end of the chain of a conversation.
  public func chainState(of conversation: ID<Conversation>) throws(Refusal) -> ChainState {
    ChainState(conversation, try chainEnd(of: conversation))
  }
}
