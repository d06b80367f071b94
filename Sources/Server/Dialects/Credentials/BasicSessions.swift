// A client with Basic authentication sends the password with each request. Checking it takes a tenth of a second of the
// processor, so the session that the first request opened serves the next ones: it ends with the password, by a ban and by
// *Sign out everywhere*, as any other. The keys of the table are digests under a key of this process.

import API
import Community
import ParleyCrypto
import ParleyModel
import Synchronization
import Web

final class BasicSessions: Sendable {
  private struct Table {
    var younger: [[UInt8]: String] = [:]
    var elder: [[UInt8]: String] = [:]
  }

  private let table = Mutex(Table())
  /// Nil if the system has no random bytes. No session is kept then.
  private let key = try? SecureRandom.bytes(BasicSessions.keyBytes)
  private let signIn: NativeOperation
  /// The name of the sessions in the list of the user.
  private let device: String

  private static let keyBytes = 32
  /// The capacity of a generation.
  static let maxSessions = 4_096

  init(named device: String) throws {
    signIn = try NativeOperation("POST /sessions", by: .post)
    self.device = device
  }

  /// The caller with these credentials. The password may be a token of the user, which needs no second step.
  func caller(with credentials: BasicCredentials, _ request: Request, _ server: Context, _ api: API) async throws
    -> Caller
  {
    let (name, password, view) = (credentials.name, credentials.password, api.view(on: server))
    if let known = try view.authenticate(password, from: server.networkText) {
      guard try view.isSignInName(name, known) else { throw Refusal.wrongCredentials }
      return known
    }
    let digest = digest(of: credentials)
    if let known = try known(digest, view, server) { return known }
    let visitor = Caller.visitor(network: server.networkHash)
    var counted = visitor
    let context = try RequestContext(request, server, api, for: signIn, as: visitor, &counted)
    let opened = try await context.signIn(name: name, password: password, on: device)
    if let digest { self[digest] = opened.token }
    guard let caller = try view.authenticate(opened.token, from: server.networkText) else {
      throw Refusal.unauthenticated
    }
    return caller
  }

  /// Ends the session that these credentials opened. A token stays.
  func end(_ credentials: BasicCredentials, of caller: Caller, _ api: API) async throws {
    guard let digest = digest(of: credentials), self[digest] != nil else { return }
    self[digest] = nil
    try await api.community.revokeSession(nil, by: caller)
  }

  /// The caller of a kept session, unless it has ended.
  private func known(_ digest: [UInt8]?, _ view: CommunityView, _ server: Context) throws -> Caller? {
    guard let digest, let token = self[digest] else { return nil }
    do throws(Refusal) {
      if let known = try view.authenticate(token, from: server.networkText) { return known }
    } catch {
      guard error == .sessionEnded else { throw error }
    }
    self[digest] = nil
    return nil
  }

  private func digest(of credentials: BasicCredentials) -> [UInt8]? {
    guard let key else { return nil }
    return try? HMAC.sha256(
      of: Array("\(credentials.name.utf8.count):\(credentials.name)\(credentials.password)".utf8), key: key)
  }

  private subscript(_ digest: [UInt8]) -> String? {
    get { table.withLock { $0.younger[digest] ?? $0.elder[digest] } }
    set {
      table.withLock { table in
        if table.younger.count >= Self.maxSessions, newValue != nil {
          table.elder = table.younger
          table.younger = [:]
        }
        table.elder[digest] = nil
        table.younger[digest] = newValue
      }
    }
  }
}
