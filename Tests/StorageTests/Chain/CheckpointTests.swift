import ParleyCrypto
import ParleyJSON
import ParleyModel
import ParleySQLite
import Testing

@testable import Storage

@Suite struct CheckpointTests {
  /// RFC 8032 §7.1, test 1.
  private static func key() throws -> Ed25519 {
    try Ed25519(secret: Hex.bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60") ?? [])
  }

  private static func state(_ conversation: Int, position: Int, _ byte: UInt8) -> ChainState {
    ChainState(
      ID(conversation), ChainEnd(seq: position, position: position, hash: [UInt8](repeating: byte, count: 32)))
  }

  @Test(arguments: 1...9)
  func `each checkpoint of a batch can be checked alone`(count: Int) throws {
    let states = (1...count).map { Self.state($0, position: 10 * $0, UInt8($0)) }
    let checkpoints = try Checkpoint.signed(states, at: 5, by: try Self.key())
    #expect(checkpoints.map(\.conversation.number) == Array(1...count))
    #expect(Set(checkpoints.map(\.signature)).count == 1)
    for checkpoint in checkpoints {
      #expect(checkpoint.isSigned)
      var json = JSONWriter()
      json.value(checkpoint)
      #expect(try Checkpoint(json: JSONValue(parsing: json.bytes)) == checkpoint)
    }
  }

  @Test func `an altered checkpoint is not signed`() throws {
    let states = (1...3).map { Self.state($0, position: $0, UInt8($0)) }
    let whole = try Checkpoint.signed(states, at: 5, by: try Self.key())[1]
    func altered(_ change: (inout Checkpoint) throws -> Void) rethrows -> Checkpoint {
      var checkpoint = whole
      try change(&checkpoint)
      return checkpoint
    }
    let other = try Ed25519()
    for checkpoint in [
      altered { $0.position = 3 }, altered { $0.conversation = ID(3) }, altered { $0.signedAt = 6 },
      altered { $0.hash = String($0.hash.reversed()) + "0" }, altered { $0.path = [] },
      altered { $0.path[0].side = .right }, altered { $0.path[0].hash = "00" }, altered { $0.path.reverse() },
      altered { $0.key = Hex.text(other.point) }, altered { $0.signature = "" },
      altered { $0.key = String(repeating: "0", count: 64) },
    ] { #expect(!checkpoint.isSigned, "\(checkpoint)") }
    #expect(try Checkpoint.signed([], at: 5, by: try Self.key()) == [])
  }

  /// The vectors of the page "What you can prove".
  @Test func `checkpoints are stable across versions`() throws {
    let checkpoints = try Checkpoint.signed(
      [Self.state(7, position: 2, 0xaa), Self.state(8, position: 1, 0xbb)], at: 1_800_000_000_000, by: try Self.key())
    #expect(checkpoints[0].key == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    #expect(checkpoints[0].path == [Checkpoint.Neighbor(.right, hash: Self.secondLeaf)])
    #expect(checkpoints[0].signature == Self.signature)
    var end = try ChainEnd(of: 7)
    #expect(Hex.text(end.hash) == Self.empty)
    let proof = try #require(
      ContentProof(
        stored: try Digest.sha256(of: [UInt8](0..<16) + DigestedContent.bytes("Hello", replyTo: nil, files: ""))
          + [UInt8](0..<16)))
    #expect(try proof.proves(Array("Hello\0\0".utf8)))
    try end.append(
      ChainEntry(kind: .created, seq: 1, message: 9, actor: 3, at: 1_800_000_000_000, proof: proof))
    #expect(Hex.text(end.hash) == Self.created)
    try end.append(ChainEntry(kind: .deleted, seq: 1, message: 9, actor: 3, at: 1_800_000_000_001, proof: nil))
    #expect(Hex.text(end.hash) == Self.deleted)
  }

  private static let empty = "bda87a2dfef0b48b8f8130f98ddec35f4051145c21128e5f1e605036acf61d08"
  private static let created = "3cdafe3f054c3c8346c37498409fba6cfca77e4ad068bbdd541a6b2d9c42a1c4"
  private static let deleted = "0ba51fe84f1b6abf532e4356cdbbe9b75de54b2b88591978f0127d368eed5c86"
  private static let secondLeaf = "e60ac9da31a96ecefd886ef4f144f802f045886e27ed6762f3880c669cde755f"
  private static let signature =
    "b2903c33a66eab48f67f76d915f376d14c3a13b777280ccbc27fb11ea87066e86287237c42ded174e605e8a2bdb75f3d640dcd9baffce337120c6067bd0ffe01"

  // MARK: Comparison

  /// A room with a message, and the checkpoint after it.
  private static func site() throws -> (database: RawDatabase, checkpoint: Checkpoint) {
    let database = try RawDatabase()
    try database.post("seeds")
    let state = try database.reading.chainState(of: RawDatabase.room)
    return (database, try Checkpoint.signed([state], at: 1_800_000_000_000, by: try key())[0])
  }

  @Test func `a checkpoint of the history is found in a longer one`() throws {
    let (database, checkpoint) = try Self.site()
    try database.post("weeds")
    #expect(try ChainTests.faults(database, comparing: [checkpoint]) == [])
  }

  @Test func `a history that was written again disagrees with its checkpoint`() throws {
    let (_, checkpoint) = try Self.site()
    let other = try RawDatabase()
    try other.post("seeds")
    try other.post("weeds")
    #expect(
      try ChainTests.faults(other, comparing: [checkpoint]) == [
        "conversation 4: the checkpoint of 2027-01-15T08:00:00.000Z has another hash at entry 1: this is not the "
          + "history that the site signed"
      ])
  }

  @Test func `a history that was cut off lacks the entry of its checkpoint`() throws {
    let (_, checkpoint) = try Self.site()
    #expect(
      try ChainTests.faults(try RawDatabase(), comparing: [checkpoint]) == [
        "conversation 4: the checkpoint of 2027-01-15T08:00:00.000Z is at entry 1, which is missing"
      ])
  }
}
