// One object per entity in use: two requests for a user return the same object. The cache sets the values on its own
// thread, so that an older value never follows a newer one.

public import ParleyModel

/// Users, forums and conversations for views, one object for each id.
public actor ObservedObjects {
  private let cache: Cache
  private var users = ObservedTable<ID<User>, User>()
  private var forums = ObservedTable<ID<Forum>, ReplicaForum>()
  private var conversations = ObservedTable<ID<Conversation>, ReplicaConversation>()
  private var messages = ObservedTable<ID<Message>, ShownMessage>()
  private var startTask: Task<Void, Never>?
  private var watchTask: Task<Void, Never>?

  init(_ cache: Cache) { self.cache = cache }

  deinit { watchTask?.cancel() }

  /// The user, which changes with the cache.
  public func user(_ id: ID<User>) async -> Observed<User> {
    await watch()
    let object = users.object(id)
    await cache.fill([(id, object)])
    return object
  }

  /// The forum, which changes with the cache.
  public func forum(_ id: ID<Forum>) async -> Observed<ReplicaForum> {
    await watch()
    let object = forums.object(id)
    await cache.fill([(id, object)])
    return object
  }

  /// The conversation, which changes with the cache.
  public func conversation(_ id: ID<Conversation>) async -> Observed<ReplicaConversation> {
    await watch()
    let object = conversations.object(id)
    await cache.fill([(id, object)])
    return object
  }

  /// The message with its pending operations.
  public func message(_ id: ID<Message>) async -> Observed<ShownMessage> {
    await watch()
    let object = messages.object(id)
    await cache.fill([(id, object)])
    return object
  }

  /// Subscribes to changes before the first value is set.
  private func watch() async {
    let startTask = self.startTask ?? Task { await self.begin() }
    self.startTask = startTask
    await startTask.value
  }

  private func begin() async {
    let update = await cache.updates()
    watchTask = Task { [weak self] in
      for await one in update {
        guard let self else { return }
        await self.apply(one)
      }
    }
  }

  private func apply(_ update: CacheUpdate) async {
    // The caller's own user is not in `users`.
    await cache.fill(users.objects { update.isErased || update.isOther || update.users.contains($0) })
    await cache.fill(forums.objects { update.isErased || update.forums.contains($0) })
    await cache.fill(conversations.objects { update.isErased || update.conversations.contains($0) })
    guard update.isErased || !update.messages.isEmpty || !update.operations.isEmpty else { return }
    await cache.fill(messages.objects())
  }
}

extension Cache {
  fileprivate func fill(_ users: [(key: ID<User>, object: Observed<User>)]) {
    for (id, object) in users { object.set(user(id)) }
  }

  fileprivate func fill(_ forums: [(key: ID<Forum>, object: Observed<ReplicaForum>)]) {
    for (id, object) in forums { object.set(replica.forums[id]) }
  }

  fileprivate func fill(_ conversations: [(key: ID<Conversation>, object: Observed<ReplicaConversation>)]) {
    for (id, object) in conversations { object.set(replica.conversations[id]) }
  }

  fileprivate func fill(_ messages: [(key: ID<Message>, object: Observed<ShownMessage>)]) {
    guard !messages.isEmpty else { return }
    let found: [CachedMessage]
    // On a read failure the previous value stays.
    do throws(CacheFault) { found = try self.messages(.ids(messages.map(\.key))) } catch { return }
    let shown = Dictionary(
      zip(found.map(\.message.id), self.shown(found)), uniquingKeysWith: { one, _ in one })
    for (id, object) in messages { object.set(shown[id]) }
  }
}
