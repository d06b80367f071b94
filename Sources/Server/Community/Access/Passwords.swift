// Passwords are kept as scrypt keys, each with its salt and its cost, so that the cost can be raised later. Making one
// takes a tenth of a second and 32 MB on purpose: never on an event loop, and only so many at once.

import Dispatch
import ParleyCrypto
import ParleyModel
import Synchronization

final class Passwords: Sendable {
  /// What new ones cost (OWASP's advice for scrypt).
  static let dear = Scrypt(cost: 1 << 15, blockSize: 8, parallelism: 3)
  static let saltBytes = 16
  static let keyBytes = 32
  /// Threads that do nothing else.
  static let laneCount = 2
  /// How many may wait; beyond it people are told to come back.
  static let mostWaiting = 64

  private let lanes = (0..<laneCount).map { DispatchQueue(label: "parley.passwords.\($0)") }
  private let cost: Scrypt
  private let work = Mutex(Work())

  private struct Work {
    var waiting = 0
    var next = 0
  }

  init(cost: Scrypt) {
    self.cost = cost
  }

  /// What is kept of a password: `scrypt$N$r$p$salt$key`.
  func hash(_ password: String) async throws(Refusal) -> String {
    try await run { [cost] in
      let salt = try SecureRandom.bytes(Self.saltBytes)
      let key = try cost.key(password: Array(password.utf8), salt: salt, byteCount: Self.keyBytes)
      return "scrypt$\(cost.cost)$\(cost.blockSize)$\(cost.parallelism)$\(Hex.text(salt))$\(Hex.text(key))"
    }
  }

  /// Without a hash the same work is done, and the answer is no: whether a name exists can't be told by the time.
  func isRight(_ password: String, for hash: String?) async throws(Refusal) -> Bool {
    try await run { [cost] in
      let known = hash.flatMap(Kept.init)
      let kept = known ?? Kept(nobodys: cost)
      let key = try kept.cost.key(password: Array(password.utf8), salt: kept.salt, byteCount: kept.key.count)
      return ConstantTime.isEqual(key, kept.key) && known != nil
    }
  }

  /// Whether it cost something else than new ones do.
  func isOutdated(_ hash: String) -> Bool { Kept(hash).map { $0.cost != cost } ?? true }

  private struct Kept {
    let cost: Scrypt
    let salt: [UInt8]
    let key: [UInt8]

    init(nobodys cost: Scrypt) {
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

  var waitingCount: Int { work.withLock { $0.waiting } }

  /// Waits for a lane; refused as `unavailable` when too many wait.
  func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws(Refusal) -> Value {
    guard let lane = enter() else { throw .unavailable }
    let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
      lane.async { continuation.resume(returning: Result { try body() }) }
    }
    work.withLock { $0.waiting -= 1 }
    guard case .success(let value) = result else { throw .unavailable }
    return value
  }

  private func enter() -> DispatchQueue? {
    work.withLock { work in
      guard work.waiting < Self.mostWaiting else { return nil }
      work.waiting += 1
      work.next = (work.next + 1) % lanes.count
      return lanes[work.next]
    }
  }
}
