public import ParleyCrypto
import ParleyModel
public import PubSub
public import Storage

/// A place where people talk, and its rules.
public final class Community: Sendable {
  public let store: Store
  public let bounds: Bounds
  /// What happens, to those who follow along.
  public let hub: Hub
  let passwords: Passwords
  let uploadRoom = UploadRoom()
  let told = ToldEvents()

  /// `publisher` is where the store delivers to, and `passwordCost` is for tests, which have no time.
  public init(_ store: Store, publisher: Publisher, bounds: Bounds = Bounds(), passwordCost: Scrypt? = nil) {
    self.store = store
    hub = publisher.hub
    publisher.start(store)
    self.bounds = bounds
    passwords = Passwords(cost: passwordCost ?? Passwords.dear)
  }

  /// The community as one event loop reads it.
  public func view() -> CommunityView { CommunityView(self, store.reader()) }
}

/// What can be read without waiting: bounded questions with an index, asked on the loop that answers. Each family of
/// questions is an extension of this class.
public final class CommunityView {
  public let community: Community
  private let reader: Reader

  init(_ community: Community, _ reader: Reader) {
    self.community = community
    self.reader = reader
  }

  /// All that `body` asks belongs to one moment.
  func read<Value>(_ body: (ReadTransaction) throws(Refusal) -> Value) throws(Refusal) -> Value {
    try reader.read(body)
  }
}

extension ReadTransaction {
  /// What the caller may do in a conversation. One that they may not read is not there.
  func rights(of caller: Caller, in conversation: ID<Conversation>) throws(Refusal) -> (Rights, Standing) {
    guard let standing = try standing(of: caller.account, in: conversation) else { throw .notFound }
    let rights = Permissions.rights(of: caller.role, in: standing)
    guard rights.contains(.read) else { throw .notFound }
    return (rights, standing)
  }

  /// The same, refused unless all of `needed` is among them.
  @discardableResult
  func require(_ needed: Rights, _ caller: Caller, in conversation: ID<Conversation>) throws(Refusal) -> Standing {
    let (rights, standing) = try rights(of: caller, in: conversation)
    guard rights.isSuperset(of: needed) else { throw caller.account == nil ? .unauthenticated : .forbidden }
    return standing
  }

  /// What the caller may do with a forum. One that they may not see is not there.
  @discardableResult
  func require(_ needed: ForumRights, _ caller: Caller, in forum: ID<Forum>) throws(Refusal) -> ForumStanding {
    guard let standing = try standing(of: caller.account, in: forum) else { throw .notFound }
    let rights = Permissions.rights(of: caller.role, in: standing)
    guard rights.contains(.see) else { throw .notFound }
    guard rights.isSuperset(of: needed) else { throw caller.account == nil ? .unauthenticated : .forbidden }
    return standing
  }
}
