public import ParleyJSON
public import ParleyModel

/// A small persistent key-value store of the app: the last user, and the cached server configuration.
public struct KeyValueStore: Sendable {
  /// The stored value; nil without one.
  public var read: @Sendable (_ name: String) -> String?
  /// Removes the value if nil.
  public var write: @Sendable (_ name: String, _ value: String?) -> Void

  /// A store of the app.
  public init(
    read: @escaping @Sendable (_ name: String) -> String?,
    write: @escaping @Sendable (_ name: String, _ value: String?) -> Void
  ) {
    self.read = read
    self.write = write
  }
}

/// The session of one user on this device.
public struct OwnSession: Sendable {
  /// The client that sends the credential.
  public let client: Client
  private let store: KeyValueStore
  /// Milliseconds since 1970.
  private let now: @Sendable () -> Int

  private static let day = 86_400_000

  /// A session of a client, kept in `store`.
  public init(_ client: Client, store: KeyValueStore, now: @escaping @Sendable () -> Int) {
    self.client = client
    self.store = store
    self.now = now
  }

  /// Signs in and sets the client's token. Call `verify` before reading local data: it may belong to another user.
  ///
  /// A user with a second factor is refused; the refusal has a `SignInChallenge` for `confirmSignIn`.
  @discardableResult
  public func signIn(_ name: String, password: String, device: String = "") async throws(ClientFault) -> String {
    try await open(name, password: password, device: device).token
  }

  /// Completes a sign-in with a code of the authenticator app, or a recovery code.
  @discardableResult
  public func confirmSignIn(
    _ challenge: SignInChallenge, code: String, device: String = ""
  ) async throws(ClientFault) -> String {
    try await open(challenge, code: code, device: device).token
  }

  /// A new session: its user and token.
  typealias Opened = (user: ID<User>, token: String)

  func open(_ name: String, password: String, device: String) async throws(ClientFault) -> Opened {
    let response = try await client.send(
      Request<Resource<SignInResult>>.signIn(name, password: password, device: device).unauthenticated())
    return try keep(response)
  }

  func open(_ challenge: SignInChallenge, code: String, device: String) async throws(ClientFault) -> Opened {
    let response = try await client.send(
      Request<Resource<SignInResult>>.confirmSignIn(challenge.text, code: code, device: device).unauthenticated())
    return try keep(response)
  }

  private func keep(_ response: Resource<SignInResult>) throws(ClientFault) -> Opened {
    guard let token = response.token else { throw .invalidResponse("a session without a token") }
    client.token = token
    return (response.user.summary.id, token)
  }

  /// Checks that the token is valid and that the user is the same as last time. Call it each time the app becomes active.
  ///
  /// - Throws: `userChanged`, once, if another user has signed in. The app then erases the local data of the previous
  ///   user.
  /// - Returns: the user, and whether to ask them to be discoverable, which is true once, where the site has discovery.
  public func verify() async throws(ClientFault) -> (user: Resource<User>, asksDiscoverability: Bool) {
    let user = try await client.send(.getUser(.me))
    let id = user.value.summary.id.description
    let before = store.read("user")
    store.write("user", id)
    if let before, before != id {
      store.write("asked", nil)
      throw .userChanged
    }
    var asks = store.read("asked") == nil
    if asks { asks = try await client.send(.getSettings()).value.hasDiscovery }
    if asks { store.write("asked", "yes") }
    store.write("verified", String(now()))
    return (user, asks)
  }

  /// The time of the last successful `verify`, in milliseconds since 1970.
  public var verifiedAt: Int? { store.read("verified").flatMap { Int($0) } }

  /// The server's configuration, requested at most once a day.
  ///
  /// - Returns: the configuration, and whether it was requested now. If the request fails, the cached configuration.
  public func configurationIfDue() async throws(ClientFault) -> (
    configuration: Resource<ServerInfo>, wasRequested: Bool
  ) {
    let cached = cachedConfiguration
    let age = store.read("configured").flatMap { Int($0) }.map { now() - $0 }
    // A clock that was set back makes the age negative.
    if let cached, let age, (0..<Self.day).contains(age) { return (cached, false) }
    do throws(ClientFault) {
      let fresh = try await client.send(Request<Resource<ServerInfo>>.getServer().unauthenticated())
      store.write("configuration", String(decoding: fresh.representation.bytes, as: UTF8.self))
      store.write("configured", String(now()))
      return (fresh, true)
    } catch {
      guard let cached, error.isTemporary else { throw error }
      return (cached, false)
    }
  }

  private var cachedConfiguration: Resource<ServerInfo>? {
    guard let text = store.read("configuration") else { return nil }
    // An older version of the app may have stored another format.
    do throws(JSONError) { return try Resource(json: JSONValue(parsing: Array(text.utf8))) } catch { return nil }
  }

  /// Revokes the session and removes the user from the store, even if the server can't be reached.
  public func signOut() async throws(ClientFault) {
    let failure: ClientFault?
    do throws(ClientFault) {
      try await client.send(.revokeSession("current"))
      failure = nil
    } catch {
      failure = error.isSignedOut ? nil : error
    }
    client.token = nil
    for name in ["user", "asked", "verified"] { store.write(name, nil) }
    if let failure { throw failure }
  }
}

/// The server has accepted the password and asks for a code of the authenticator app, or a recovery code.
public struct SignInChallenge: Sendable, Hashable {
  /// For `confirmSignIn`.
  public let text: String
  /// After that the user begins with the password again.
  public let expiresAt: Timestamp

  /// Nil if the sign-in failed for another reason.
  public init?(_ fault: ClientFault) {
    guard let problem = fault.problem, problem.code == "second_factor_required" else { return nil }
    do throws(JSONError) {
      var object = try JSONValue(parsing: problem.representation.bytes).object()
      var params = try object.object("params")
      text = try params.string("challenge")
      expiresAt = try params.read("expires_at")
    } catch {
      return nil
    }
  }
}
