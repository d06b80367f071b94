// A client with Basic authentication sends the password with each request. Checking it takes a tenth of a second of the
// processor, so the session that the first request opened serves the next ones from the same network: it ends with the password,
// by a ban and by *Sign out everywhere*, as any other. The keys of the table are digests under a key of this process.

import API
import Community
import ParleyCrypto
import ParleyModel
import Synchronization
import Web

final class BasicSessions: Sendable {
  private let table = Mutex(KeptSessions(capacity: 4_096))
  private let key: [UInt8]
  private let signIn: NativeOperation
  /// The name of the sessions in the list of the user.
  private let device: String

  private static let keyBytes = 32

  /// - Throws: if the system has no random bytes.
  init(named device: String) throws {
    signIn = try NativeOperation("POST /sessions", by: .post)
    key = try SecureRandom.bytes(Self.keyBytes)
    self.device = device
  }

  /// The caller with these credentials. The password may be a token of the user, which needs no second step. A deactivated user
  /// is refused: a client that goes on to send its requests does not mean to reactivate.
  func caller(with credentials: BasicCredentials, _ request: Request, _ server: Context, _ api: API) async throws
    -> Caller
  {
    let view = api.view(on: server)
    if let known = try view.authenticate(credentials.password, from: server.networkText) {
      guard try view.isSignInName(credentials.name, known) else { throw Refusal.wrongCredentials }
      return known
    }
    guard let digest = try digest(of: credentials, server) else { throw Refusal.wrongCredentials }
    if let known = try known(digest, view, server) { return known }
    while !table.withLock({ $0.begin(digest) }) { await pendingSignIn(digest) }
    defer { for waiting in table.withLock({ $0.finish(digest) }) { waiting.resume() } }
    // Another request may have opened the session meanwhile.
    if let known = try known(digest, view, server) { return known }
    let visitor = Caller.visitor(network: server.networkHash)
    var counted = visitor
    let context = try RequestContext(request, server, api, for: signIn, as: visitor, &counted)
    let opened = try await context.signIn(
      name: credentials.name, password: credentials.password, on: device, reactivates: false)
    guard let caller = try keep(opened, digest, view, server) else { throw Refusal.unauthenticated }
    return caller
  }

  /// Lets a session that the client opened itself serve its requests with these credentials.
  func keep(_ opened: OpenedSession, for credentials: BasicCredentials, _ server: Context, _ api: API) throws {
    guard let digest = try digest(of: credentials, server) else { return }
    _ = try keep(opened, digest, api.view(on: server), server)
  }

  /// Returns the caller, or nil if the session has ended meanwhile.
  private func keep(
    _ opened: OpenedSession, _ digest: [UInt8], _ view: CommunityView, _ server: Context
  ) throws -> Caller? {
    guard let caller = try view.authenticate(opened.token, from: server.networkText) else { return nil }
    if let passwordDigest = try view.passwordDigest(of: caller) {
      table.withLock { $0.add(KeptSession(token: opened.token, passwordDigest: passwordDigest), digest) }
    }
    return caller
  }

  /// Ends the session of these credentials. Returns false if they are a token, which stays.
  func end(_ credentials: BasicCredentials, of caller: Caller, _ server: Context, _ api: API) async throws -> Bool {
    guard let digest = try digest(of: credentials, server), let session = table.withLock({ $0.use(digest) }) else {
      return false
    }
    table.withLock { $0.remove(session, digest) }
    try await api.community.revokeSession(nil, by: caller)
    return true
  }

  /// The caller of a kept session, unless it has ended. A session may outlive its password: the one that changes it stays, and so
  /// do others at the setup of a second factor, if the user keeps them.
  private func known(_ digest: [UInt8], _ view: CommunityView, _ server: Context) throws -> Caller? {
    guard let session = table.withLock({ $0.use(digest) }) else { return nil }
    do throws(Refusal) {
      if let known = try view.authenticate(session.token, from: server.networkText),
        try view.passwordDigest(of: known) == session.passwordDigest
      {
        return known
      }
    } catch {
      guard error == .sessionEnded else { throw error }
    }
    table.withLock { $0.remove(session, digest) }
    return nil
  }

  /// Returns when no sign-in with this digest is pending.
  private func pendingSignIn(_ digest: [UInt8]) async {
    await withCheckedContinuation { continuation in
      if !table.withLock({ $0.wait(digest, continuation) }) { continuation.resume() }
    }
  }

  /// Nil for a name that no user can have. Requests from another network sign in themselves, so that the user learns of them.
  private func digest(of credentials: BasicCredentials, _ server: Context) throws -> [UInt8]? {
    guard credentials.name.utf8.count <= UserName.maxBytes else { return nil }
    let parts = [server.networkText ?? "", UserName.key(credentials.name), credentials.password]
    return try HMAC.sha256(of: parts.flatMap { Array("\($0.utf8.count):\($0)".utf8) }, key: key)
  }
}
