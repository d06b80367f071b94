// Signing in and resuming in one call. An app with needs of its own wires `Client`, `OwnSession` and `Parley` by hand.

extension Parley {
  /// The services that the app supplies: network, storage, clock and files of the device.
  public struct Device: Sendable {
    /// The connections to servers.
    public var transport: any Transport
    /// Keeps the address of the server and the token of the session.
    public var credentials: any CredentialStore
    /// Time, names and delays of the outbox.
    public var clock: Outbox.Clock
    /// The file of the cache; nil keeps it in memory.
    public var cache: String?
    /// Whether other processes of the app may read the cache meanwhile, as `CacheReader`.
    public var isShared = false
    /// Settings of the search index.
    public var indexing = MessageIndexing()
    /// The file of the picture cache; nil disables it.
    public var pictures: PictureFile?
    /// Opens a local file of the outbox.
    public var open: @Sendable (PendingFile) async throws -> FileSource

    /// The parts of a device that an app may replace.
    public init(
      over transport: any Transport, credentials: any CredentialStore, clock: Outbox.Clock, cache: String?,
      open: @escaping @Sendable (PendingFile) async throws -> FileSource
    ) {
      self.transport = transport
      self.credentials = credentials
      self.clock = clock
      self.cache = cache
      self.open = open
    }
  }

  /// Signs in and starts to synchronize. The data of another user on the device is erased, besides unsent messages, which
  /// are kept for that user.
  ///
  /// A user with a second factor is refused; the refusal has a `SignInChallenge` for `confirmSignIn`.
  public static func signIn(
    _ server: ServerAddress, _ name: String, password: String, device label: String = "", on device: Device
  ) async throws -> Parley {
    try await begin(server, device) { session throws(ClientFault) in
      try await session.open(name, password: password, device: label)
    }
  }

  /// Completes a sign-in with a code of the authenticator app, or a recovery code.
  public static func confirmSignIn(
    _ server: ServerAddress, _ challenge: SignInChallenge, code: String, device label: String = "", on device: Device
  ) async throws -> Parley {
    try await begin(server, device) { session throws(ClientFault) in
      try await session.open(challenge, code: code, device: label)
    }
  }

  /// Starts with the session of the last sign-in, also offline. Nil if there is none.
  public static func resume(on device: Device) async throws(CacheFault) -> Parley? {
    guard let credential = try device.credentials.load() else { return nil }
    let parley = try make(Client(credential.server, over: device.transport, token: credential.token), device)
    await parley.start()
    return parley
  }

  /// Opens the cache first, so that its fault leaves no session behind. The answer to the sign-in names the user: no further
  /// request can fail between the session and its stored token.
  private static func begin(
    _ server: ServerAddress, _ device: Device,
    _ open: @Sendable (OwnSession) async throws(ClientFault) -> OwnSession.Opened
  ) async throws -> Parley {
    let client = Client(server, over: device.transport)
    let parley = try make(client, device)
    // `OwnSession` stores notes in `verify` only.
    let session = OwnSession(client, store: KeyValueStore(read: { _ in nil }, write: { _, _ in })) {
      [clock = device.clock] in Int(clock.now())
    }
    let (user, token) = try await open(session)
    do {
      do { try await parley.sync.verifyOwner(user) } catch SyncRefusal.userChanged { try await parley.pictures.erase() }
      try device.credentials.save(StoredCredential(server, token: token))
    } catch {
      // The fault of the storage is reported, also if the session can't be revoked.
      _ = try? await client.send(.revokeSession("current"))
      client.token = nil
      throw error
    }
    await parley.start()
    return parley
  }

  private static func make(_ client: Client, _ device: Device) throws(CacheFault) -> Parley {
    try Parley(
      client, clock: device.clock, device.indexing, open: device.open, pictures: device.pictures,
      didSignOut: { device.credentials.remove() }
    ) { [path = device.cache, isShared = device.isShared] in
      guard let path else { return MemoryStore() }
      return try DiskStore(path, isShared: isShared)
    }
  }
}
