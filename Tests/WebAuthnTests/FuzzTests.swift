import FoundationEssentials
import ParleyCrypto
import ParleyModel
import TestSupport
import Testing

@testable import WebAuthn

/// Mutated answers. `PARLEY_FUZZ_ROUNDS` sets the number of rounds.
@Suite struct FuzzTests {
  static let rounds = ProcessInfo.processInfo.environment["PARLEY_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 2_000

  @Test func `no bytes crash the reader of CBOR`() throws {
    var random = Seeded(seed: 1)
    let seeds = (CBORTests.accepted.map(\.0) + CBORTests.refused.map(\.0)).compactMap { Hex.bytes($0) }
    for _ in 0..<Self.rounds * 4 {
      let bytes = (seeds.randomElement(using: &random) ?? []).mutated(&random)
      _ = try? CBORReader.value(of: bytes)
    }
  }

  /// A mutation of the client data, the authenticator data or the signature passes no check. One of the id does: it only finds
  /// the key.
  @Test func `no mutated answer is verified`() throws {
    var random = Seeded(seed: 2)
    let party = try #require(CeremonyTests.party)
    let samples = try COSEKey.algorithms.map { algorithm in
      let authenticator = try CeremonyTests.authenticator(algorithm)
      return (
        key: SoftwareAuthenticator.coseKey(of: authenticator.key),
        answer: try authenticator.get(CeremonyTests.challenge)
      )
    }
    for round in 0..<Self.rounds {
      let sample = samples[round % samples.count]
      var answer = sample.answer
      switch Int.random(in: 0...2, using: &random) {
      case 0: answer.clientData = try Self.mutated(answer.clientData, &random)
      case 1: answer.authenticatorData = try Self.mutated(answer.authenticatorData, &random)
      default: answer.signature = try Self.mutated(answer.signature, &random)
      }
      guard answer != sample.answer else { continue }
      #expect(throws: PasskeyFault.self) {
        try Assertion(answer, at: party).verify(
          key: sample.key, userHandle: Array("7".utf8), requiresHandle: true, isBackupEligible: true)
      }
    }
  }

  @Test func `no mutated registration crashes`() throws {
    var random = Seeded(seed: 3)
    let party = try #require(CeremonyTests.party)
    let samples = try COSEKey.algorithms.map { try CeremonyTests.authenticator($0).create(CeremonyTests.challenge) }
    for round in 0..<Self.rounds {
      var answer = samples[round % samples.count]
      answer.attestation = try Self.mutated(answer.attestation, &random)
      guard let made = try? NewCredential(answer, at: party) else { continue }
      // No check covers the id of the model, the counter and the key's bytes, as long as they are a key.
      #expect(Base64URL.text(made.challenge) == CeremonyTests.challenge)
      #expect(throws: Never.self) { try COSEKey(made.key) }
    }
  }

  private static func mutated(_ text: String, _ random: inout Seeded) throws -> String {
    Base64URL.text(try Base64URL.decode(text).mutated(&random))
  }
}

extension [UInt8] {
  /// Replaces, removes, inserts or duplicates a few bytes, with heads of CBOR more frequent.
  fileprivate func mutated(_ random: inout Seeded) -> [UInt8] {
    let heads: [UInt8] = [
      0, 0x17, 0x18, 0x1b, 0x1f, 0x20, 0x40, 0x58, 0x5b, 0x60, 0x7f, 0x80, 0x9b, 0xa1, 0xbf, 0xf6, 0xff,
    ]
    var bytes = self
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let index = Int.random(in: 0...bytes.count, using: &random)
      let byte =
        Bool.random(using: &random) ? heads.randomElement(using: &random) ?? 0 : .random(in: 0...255, using: &random)
      switch Int.random(in: 0...3, using: &random) {
      case 0 where index < bytes.count: bytes[index] = byte
      case 1 where index < bytes.count: bytes.remove(at: index)
      case 2: bytes.insert(byte, at: index)
      default:
        let end = Swift.min(index + Int.random(in: 0...20, using: &random), bytes.count)
        bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0...bytes.count, using: &random))
      }
    }
    return bytes
  }
}
