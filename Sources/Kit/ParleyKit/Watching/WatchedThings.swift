// One object for each thing that an app has in its hands: whoever asks for the same person twice has one person. The cache fills
// them on its own thread, so that what is older never comes after what is newer.

public import ParleyModel

public actor WatchedThings {
  private let cache: Cache
  private var people = WatchedTable<ID<Account>, Person>()
  private var forums = WatchedTable<ID<Forum>, HeldForum>()
  private var conversations = WatchedTable<ID<Conversation>, HeldConversation>()
  private var messages = WatchedTable<ID<Message>, ShownMessage>()
  private var beginning: Task<Void, Never>?
  private var watching: Task<Void, Never>?

  init(_ cache: Cache) { self.cache = cache }

  deinit { watching?.cancel() }

  public func person(_ id: ID<Account>) async -> Watched<Person> {
    await watch()
    let object = people.object(id)
    await cache.fill([(id, object)])
    return object
  }

  public func forum(_ id: ID<Forum>) async -> Watched<HeldForum> {
    await watch()
    let object = forums.object(id)
    await cache.fill([(id, object)])
    return object
  }

  public func conversation(_ id: ID<Conversation>) async -> Watched<HeldConversation> {
    await watch()
    let object = conversations.object(id)
    await cache.fill([(id, object)])
    return object
  }

  /// With what waits to be done to it.
  public func message(_ id: ID<Message>) async -> Watched<ShownMessage> {
    await watch()
    let object = messages.object(id)
    await cache.fill([(id, object)])
    return object
  }

  /// Nothing is filled before its changes are heard of.
  private func watch() async {
    let beginning = self.beginning ?? Task { await self.begin() }
    self.beginning = beginning
    await beginning.value
  }

  private func begin() async {
    let news = await cache.news()
    watching = Task { [weak self] in
      for await one in news {
        guard let self else { return }
        await self.take(one)
      }
    }
  }

  private func take(_ news: CacheNews) async {
    // Oneself is no row among the people.
    await cache.fill(people.objects { news.isErased || news.isOther || news.people.contains($0) })
    await cache.fill(forums.objects { news.isErased || news.forums.contains($0) })
    await cache.fill(conversations.objects { news.isErased || news.conversations.contains($0) })
    guard news.isErased || !news.messages.isEmpty || !news.operations.isEmpty else { return }
    await cache.fill(messages.objects())
  }
}

extension Cache {
  fileprivate func fill(_ people: [(key: ID<Account>, object: Watched<Person>)]) {
    for (id, object) in people { object.set(person(id)) }
  }

  fileprivate func fill(_ forums: [(key: ID<Forum>, object: Watched<HeldForum>)]) {
    for (id, object) in forums { object.set(replica.forums[id]) }
  }

  fileprivate func fill(_ conversations: [(key: ID<Conversation>, object: Watched<HeldConversation>)]) {
    for (id, object) in conversations { object.set(replica.conversations[id]) }
  }

  fileprivate func fill(_ messages: [(key: ID<Message>, object: Watched<ShownMessage>)]) {
    guard !messages.isEmpty else { return }
    let found: [CachedMessage]
    // What can't be read now shows what it showed before.
    do throws(CacheFault) { found = try self.messages(.ids(messages.map(\.key))) } catch { return }
    let shown = Dictionary(
      zip(found.map(\.message.id), self.shown(found)), uniquingKeysWith: { one, _ in one })
    for (id, object) in messages { object.set(shown[id]) }
  }
}
