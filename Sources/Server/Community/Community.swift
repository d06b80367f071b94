public import ParleyCrypto
import ParleyModel
public import PubSub
public import Storage
import Synchronization

/// The rules of the site. Each operation checks, stores and publishes.
public final class Community: Sendable {
  public let store: Store
  private let currentBounds: Mutex<Bounds>
  /// Publishes committed events and signals.
  public let hub: Hub
  let passwords: Passwords
  let uploadQuota = UploadQuota()
  let encodedEvents = EncodedEventCache()
  let renderer = HTMLRenderer()
  let messagePages = MessagePageCache()
  let moderationRules = ModerationRuleCache()
  let timeZones = TimeZones()
  /// Whether users sign up and sign in with passwords.
  public let allowsPasswordSignIn: Bool
  let signOuts = SignOuts()
  /// Whether an import runs.
  let isImporting = Mutex(false)
  /// Signs file URLs. It is never stored, so that a stolen database or backup signs none. Nil if the system has no random
  /// bytes.
  let linkKey = try? SecureRandom.bytes(Secret.byteCount)

  /// The store delivers commits to `publisher`. `passwordCost` shortens tests.
  public init(
    _ store: Store, publisher: Publisher, bounds: Bounds = Bounds(), passwordCost: Scrypt? = nil,
    allowsPasswordSignIn: Bool = true
  ) {
    self.store = store
    self.allowsPasswordSignIn = allowsPasswordSignIn
    hub = publisher.hub
    publisher.start(store)
    currentBounds = Mutex(bounds)
    passwords = Passwords(cost: passwordCost ?? Passwords.productionCost)
  }

  /// The number of passwords that were hashed since the start.
  public var passwordHashCount: Int { passwords.hashCount }

  public var bounds: Bounds { currentBounds.withLock { $0 } }

  /// Replaces the bounds while the site runs.
  public func use(_ bounds: Bounds) { currentBounds.withLock { $0 = bounds } }

  /// Creates a view for one event loop.
  public func view() -> CommunityView { CommunityView(self, store.reader()) }
}

/// Bounded, indexed queries that run inline on the calling event loop. Each group of queries is an extension of this
/// class.
public final class CommunityView {
  public let community: Community
  private let reader: Reader

  init(_ community: Community, _ reader: Reader) {
    self.community = community
    self.reader = reader
  }

  /// Runs `body` in one read transaction.
  func read<Value>(_ body: (ReadTransaction) throws(Refusal) -> Value) throws(Refusal) -> Value {
    try reader.read(body)
  }
}

extension ReadTransaction {
  /// Throws unless the caller is an owner or an admin.
  func requireStaff(_ caller: Caller) throws(Refusal) {
    guard try reloadCaller(caller).role?.isStaff == true else { throw .forbidden }
  }

  /// The standing of the caller. Nil, too, if the token is limited to other forums.
  func standing(of caller: Caller, in conversation: ID<Conversation>) throws(Refusal) -> Standing? {
    guard try reaches(conversation, caller) else { return nil }
    return try standing(of: caller.user, in: conversation)
  }

  func standing(of caller: Caller, in forum: ID<Forum>) throws(Refusal) -> ForumStanding? {
    guard caller.reaches(forum) else { return nil }
    return try standing(of: caller.user, in: forum)
  }

  /// Whether the token of the caller reaches the conversation.
  func reaches(_ conversation: ID<Conversation>, _ caller: Caller) throws(Refusal) -> Bool {
    guard caller.forums != nil else { return true }
    return caller.reaches(try forum(of: conversation))
  }

  /// The caller's rights in a conversation. Throws `notFound` if the caller may not read it.
  func rights(of caller: Caller, in conversation: ID<Conversation>) throws(Refusal) -> (Rights, Standing) {
    guard let standing = try standing(of: caller, in: conversation) else { throw .notFound }
    let rights = Permissions.rights(of: caller.role, in: standing)
    guard rights.contains(.read) else { throw .notFound }
    return (rights, standing)
  }

  /// Throws unless the caller has all of the rights `needed`.
  @discardableResult
  func require(_ needed: Rights, _ caller: Caller, in conversation: ID<Conversation>) throws(Refusal) -> Standing {
    let (rights, standing) = try rights(of: caller, in: conversation)
    guard rights.isSuperset(of: needed) else {
      guard let user = caller.user else { throw .unauthenticated }
      throw try refusal(of: user, in: conversation, needed.contains(.write) && standing.isSilenced)
    }
    return standing
  }

  /// Why a user may not write in a conversation.
  func refusal(of user: ID<User>, in conversation: ID<Conversation>, _ isSilenced: Bool) throws(Refusal) -> Refusal {
    try refusal(of: user, in: isSilenced ? try forum(of: conversation) : nil, isSilenced)
  }

  /// Why a user may not write in a forum, or outside of forums.
  func refusal(of user: ID<User>, in forum: ID<Forum>?, _ isSilenced: Bool) throws(Refusal) -> Refusal {
    guard isSilenced else { return .forbidden }
    var silence = try sanction(.silence, of: user)
    if silence == nil, let forum { silence = try sanction(.silence, of: user, in: forum) }
    return silence.map { .silenced(until: $0.until, reason: $0.reason) } ?? .forbidden
  }

  /// Throws unless the caller has all of the rights `needed`. Throws `notFound` if the caller may not see the forum.
  @discardableResult
  func require(_ needed: ForumRights, _ caller: Caller, in forum: ID<Forum>) throws(Refusal) -> ForumStanding {
    guard let standing = try standing(of: caller, in: forum) else { throw .notFound }
    let rights = Permissions.rights(of: caller.role, in: standing)
    guard rights.contains(.see) else { throw .notFound }
    guard rights.isSuperset(of: needed) else {
      guard let user = caller.user else { throw .unauthenticated }
      let isWriting = !needed.isDisjoint(with: [.write, .startTopics, .mentionRoom])
      throw try refusal(of: user, in: forum, isWriting && standing.isSilenced)
    }
    return standing
  }
}
