// Signing in and resuming in one call. An app with needs of its own wires `Client`, `OwnSession` and `Parley` by hand.

extension Parley {
  /// The services that the app supplies: network, storage, clock and files of the device.
  public struct Device: Sendable {
    /// The connections to servers.
    public var transport: any Transport
    /// Keeps the address of the server and the token of the session. A token signs in: an app stores the name `token` as its
    /// platform stores secrets.
    public var notes: KeyValueStore
    /// Time, names and delays of the outbox.
    public var clock: Outbox.Clock
    /// The file of the cache; nil keeps it in memory.
    public var cache: String?
    /// Settings of the search index.
    public var indexing = MessageIndexing()
    /// The file of the picture cache; nil disables it.
    public var pictures: PictureFile?
    /// Opens a local file of the outbox.
    public var open: @Sendable (PendingFile) async throws -> FileSource

    /// The parts of a device that an app may replace.
    public init(
      over transport: any Transport, notes: KeyValueStore, clock: Outbox.Clock, cache: String?,
      open: @escaping @Sendable (PendingFile) async throws -> FileSource
    ) {
      self.transport = transport
      self.notes = notes
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
  public static func resume(on device: Device) async throws -> Parley? {
    guard let server = device.notes.read("server").flatMap({ ServerAddress($0) }),
      let token = device.notes.read("token")
    else { return nil }
    let parley = try make(Client(server, over: device.transport, token: token), device)
    await parley.start()
    return parley
  }

  /// Opens the cache first, so that its fault leaves no session behind. The answer to the sign-in names the user: no further
  /// request can fail between the session and its token in the notes.
  private static func begin(
    _ server: ServerAddress, _ device: Device,
    _ open: @Sendable (OwnSession) async throws(ClientFault) -> OwnSession.Opened
  ) async throws -> Parley {
    let client = Client(server, over: device.transport)
    let parley = try make(client, device)
    let session = OwnSession(client, store: device.notes) { [clock = device.clock] in Int(clock.now()) }
    let (user, token) = try await open(session)
    do {
      do { try await parley.sync.verifyOwner(user) } catch SyncRefusal.userChanged { try await parley.pictures.erase() }
    } catch {
      // The fault of the cache is reported, also if the session can't be revoked.
      _ = try? await client.send(.revokeSession("current"))
      client.token = nil
      throw error
    }
    device.notes.write("server", server.description)
    device.notes.write("token", token)
    await parley.start()
    return parley
  }

  private static func make(_ client: Client, _ device: Device) throws(CacheFault) -> Parley {
    try Parley(
      client, clock: device.clock, device.indexing, open: device.open, pictures: device.pictures,
      didSignOut: { device.notes.write("token", nil) }
    ) { [path = device.cache] in
      guard let path else { return MemoryStore() }
      return try DiskStore(path)
    }
  }
}
