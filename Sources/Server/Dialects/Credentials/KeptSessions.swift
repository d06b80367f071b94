// Two generations of sessions: the elder one is dropped as a whole when the younger one is full.

/// A session that requests with the same credentials use.
struct KeptSession: Equatable {
  let token: String
  /// The stored password at the sign-in. The session may outlive it: the one that changes the password stays.
  let passwordDigest: [UInt8]
}

/// Sessions by the digest of a network, a name and a password, and the pending sign-ins.
struct KeptSessions {
  /// The capacity of a generation.
  private let capacity: Int
  private var younger: [[UInt8]: KeptSession] = [:]
  private var elder: [[UInt8]: KeptSession] = [:]
  /// The requests that wait for a pending sign-in with the same digest.
  private var waiting: [[UInt8]: [CheckedContinuation<Void, Never>]] = [:]

  init(capacity: Int) { self.capacity = capacity }

  /// The session, which then is among the younger ones.
  mutating func use(_ digest: [UInt8]) -> KeptSession? {
    if let session = younger[digest] { return session }
    guard let session = elder[digest] else { return nil }
    add(session, digest)
    return session
  }

  mutating func add(_ session: KeptSession, _ digest: [UInt8]) {
    if younger.count >= capacity, younger[digest] == nil {
      elder = younger
      younger = [:]
    }
    elder[digest] = nil
    younger[digest] = session
  }

  /// Removes the session, unless another one has replaced it.
  mutating func remove(_ session: KeptSession, _ digest: [UInt8]) {
    if younger[digest] == session { younger[digest] = nil }
    if elder[digest] == session { elder[digest] = nil }
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
