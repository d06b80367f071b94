// Two generations of sessions: the elder one is dropped as a whole when the younger one is full.

/// The tokens of sessions by the digest of a network, a name and a password, and the pending sign-ins.
struct KeptSessions {
  /// The capacity of a generation.
  private let capacity: Int
  private var younger: [[UInt8]: String] = [:]
  private var elder: [[UInt8]: String] = [:]
  /// The requests that wait for a pending sign-in with the same digest.
  private var waiting: [[UInt8]: [CheckedContinuation<Void, Never>]] = [:]

  init(capacity: Int) { self.capacity = capacity }

  /// The token, which then is among the younger ones.
  mutating func use(_ digest: [UInt8]) -> String? {
    if let token = younger[digest] { return token }
    guard let token = elder[digest] else { return nil }
    add(token, digest)
    return token
  }

  mutating func add(_ token: String, _ digest: [UInt8]) {
    if younger.count >= capacity, younger[digest] == nil {
      elder = younger
      younger = [:]
    }
    elder[digest] = nil
    younger[digest] = token
  }

  /// Removes the token, unless another one has replaced it.
  mutating func remove(_ token: String, _ digest: [UInt8]) {
    if younger[digest] == token { younger[digest] = nil }
    if elder[digest] == token { elder[digest] = nil }
  }

  // MARK: Pending sign-ins

  /// Returns false if a sign-in is pending.
  mutating func begin(_ digest: [UInt8]) -> Bool {
    guard waiting[digest] == nil else { return false }
    waiting[digest] = []
    return true
  }

  /// Returns false if no sign-in is pending.
  mutating func wait(_ digest: [UInt8], _ request: CheckedContinuation<Void, Never>) -> Bool {
    guard waiting[digest] != nil else { return false }
    waiting[digest]?.append(request)
    return true
  }

  /// Returns the requests that waited.
  mutating func finish(_ digest: [UInt8]) -> [CheckedContinuation<Void, Never>] {
    waiting.removeValue(forKey: digest) ?? []
  }
}
