// Passwords are stored as scrypt keys, each with its salt and cost, so that the cost can be raised later. Hashing takes
// 0.1 s and 32 MB on purpose. It never runs on an event loop and is limited to `laneCount` threads.

import Dispatch
import ParleyCrypto
import ParleyModel
import Synchronization

final class Passwords: Sendable {
  /// The cost of new hashes (OWASP recommendation for scrypt).
  static let productionCost = Scrypt(cost: 1 << 15, blockSize: 8, parallelism: 3)
  static let saltBytes = 16
  static let keyBytes = 32
  /// Threads reserved for hashing.
  static let laneCount = 2
  /// The queue limit. Beyond it requests are refused as `unavailable`.
  static let maxQueued = 64

  private let lanes = (0..<laneCount).map { DispatchQueue(label: "parley.passwords.\($0)") }
  private let cost: Scrypt
  private let work = Mutex(Work())

  private struct Work {
    var waiting = 0
    var count = 0
    var next = 0
  }

  init(cost: Scrypt) {
    self.cost = cost
  }

  /// Returns the stored form `scrypt$N$r$p$salt$key`.
  func hash(_ password: String) async throws(Refusal) -> String {
    try await run { [cost] in
      let salt = try SecureRandom.bytes(Self.saltBytes)
      let key = try cost.key(password: Array(password.utf8), salt: salt, byteCount: Self.keyBytes)
      return "scrypt$\(cost.cost)$\(cost.blockSize)$\(cost.parallelism)$\(Hex.text(salt))$\(Hex.text(key))"
    }
  }

  /// Without a hash the same work is done, and the result is false, so that timing does not reveal whether a name
  /// exists.
  func isRight(_ password: String, for hash: String?) async throws(Refusal) -> Bool {
    try await run { [cost] in
      let known = hash.flatMap(StoredHash.init)
      let stored = known ?? StoredHash(dummy: cost)
      let key = try stored.cost.key(password: Array(password.utf8), salt: stored.salt, byteCount: stored.key.count)
      return ConstantTime.isEqual(key, stored.key) && known != nil
    }
  }

  /// Whether the hash has a different cost than new ones.
  func isOutdated(_ hash: String) -> Bool { StoredHash(hash).map { $0.cost != cost } ?? true }

  private struct StoredHash {
    let cost: Scrypt
    let salt: [UInt8]
    let key: [UInt8]

    init(dummy cost: Scrypt) {
      self.cost = cost
      salt = [UInt8](repeating: 0, count: Passwords.saltBytes)
      key = [UInt8](repeating: 0, count: Passwords.keyBytes)
    }

    init?(_ text: String) {
      let parts = text.split(separator: "$").map(String.init)
      guard parts.count == 6, parts[0] == "scrypt", let cost = Int(parts[1]), let blockSize = Int(parts[2]),
        let parallelism = Int(parts[3]), let salt = Hex.bytes(parts[4]), let key = Hex.bytes(parts[5])
      else { return nil }
      self.cost = Scrypt(cost: cost, blockSize: blockSize, parallelism: parallelism)
      self.salt = salt
      self.key = key
    }
  }

  /// The number of hashes queued since the start.
  var hashCount: Int { work.withLock { $0.count } }

  var waitingCount: Int { work.withLock { $0.waiting } }

  /// Queues work for a lane. Throws `unavailable` if the queue is full.
  func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws(Refusal) -> Value {
    guard let lane = nextLane() else { throw .unavailable }
    let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
      lane.async { continuation.resume(returning: Result { try body() }) }
    }
    work.withLock { $0.waiting -= 1 }
    guard case .success(let value) = result else { throw .unavailable }
    return value
  }

  private func nextLane() -> DispatchQueue? {
    work.withLock { work in
      guard work.waiting < Self.maxQueued else { return nil }
      work.waiting += 1
      work.count += 1
      work.next = (work.next + 1) % lanes.count
      return lanes[work.next]
    }
  }
}
