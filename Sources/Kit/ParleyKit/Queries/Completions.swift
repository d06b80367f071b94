// Each call of the kit for code that is not `async`: the same name, and what came of it is told to the closure at the end.
// The task can be cancelled. Requests have theirs in `Client.send`, twofold answers in `CachedThenFresh.fresh`.

import ParleyJSON
public import ParleyModel

public typealias Completion<Value> = @Sendable (Result<Value, any Error>) -> Void

extension Client {
  @discardableResult
  public func upload(
    _ file: FileSource, clientID: String? = nil, public isPublic: Bool = false,
    progress: (@Sendable (_ sent: Int, _ size: Int) -> Void)? = nil, then: @escaping Completion<Resource<File>>
  ) -> Task<Void, Never> {
    ParleyKit.perform(
      { try await self.upload(file, clientID: clientID, public: isPublic, progress: progress) }, then: then)
  }

  @discardableResult
  public func resume(
    _ upload: ID<Upload>, of file: FileSource,
    progress: (@Sendable (_ sent: Int, _ size: Int) -> Void)? = nil, then: @escaping Completion<Resource<File>>
  ) -> Task<Void, Never> {
    ParleyKit.perform({ try await self.resume(upload, of: file, progress: progress) }, then: then)
  }

  @discardableResult
  public func download(
    _ file: ID<File>, from start: Int = 0,
    progress: (@Sendable (_ received: Int, _ size: Int?) -> Void)? = nil,
    _ take: @escaping @Sendable ([UInt8]) -> Void, then: @escaping Completion<Void>
  ) -> Task<Void, Never> {
    ParleyKit.perform(
      { try await self.download(file, from: start, progress: progress) { piece in take(piece) } }, then: then)
  }
}

extension OwnSession {
  @discardableResult
  public func signIn(
    _ name: String, password: String, device: String = "", then: @escaping Completion<String>
  ) -> Task<Void, Never> {
    perform({ try await self.signIn(name, password: password, device: device) }, then: then)
  }

  @discardableResult
  public func verify(
    then: @escaping Completion<(user: Resource<User>, asksDiscoverability: Bool)>
  ) -> Task<Void, Never> {
    perform({ try await self.verify() }, then: then)
  }

  @discardableResult
  public func configurationIfDue(
    then: @escaping Completion<(configuration: Resource<ServerInfo>, wasRequested: Bool)>
  ) -> Task<Void, Never> {
    perform({ try await self.configurationIfDue() }, then: then)
  }

  @discardableResult
  public func signOut(then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.signOut() }, then: then)
  }
}

extension Parley {
  @discardableResult
  public nonisolated func start(then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ await self.start() }, then: then)
  }

  @discardableResult
  public nonisolated func stop(then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ await self.stop() }, then: then)
  }

  @discardableResult
  public nonisolated func networkAvailable(then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ await self.networkAvailable() }, then: then)
  }

  @discardableResult
  public nonisolated func networkLost(then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ await self.networkLost() }, then: then)
  }

  @discardableResult
  public nonisolated func signOut(isForced: Bool = false, then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.signOut(isForced: isForced) }, then: then)
  }

  @discardableResult
  public nonisolated func message(
    ofPayload payload: [UInt8], then: @escaping Completion<ShownMessage>
  ) -> Task<Void, Never> {
    perform({ try await self.message(ofPayload: payload) }, then: then)
  }

  @discardableResult
  public nonisolated func picture(
    _ file: ID<File>, width: Int? = nil, height: Int? = nil, then: @escaping Completion<[UInt8]>
  ) -> Task<Void, Never> {
    perform({ try await self.picture(file, width: width, height: height) }, then: then)
  }

  @discardableResult
  public nonisolated func avatar(of user: UserSummary, then: @escaping Completion<[UInt8]>) -> Task<Void, Never> {
    perform({ try await self.avatar(of: user) }, then: then)
  }

  @discardableResult
  public nonisolated func icon(of forum: Forum, then: @escaping Completion<[UInt8]>) -> Task<Void, Never> {
    perform({ try await self.icon(of: forum) }, then: then)
  }
}

extension Outbox {
  @discardableResult
  public nonisolated func send(
    _ draft: Draft, in conversation: ID<Conversation>, then: @escaping Completion<OutboxOperation>
  ) -> Task<Void, Never> {
    perform({ try await self.send(draft, in: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func sendAndWait(
    _ draft: Draft, in conversation: ID<Conversation>, then: @escaping Completion<[Message]>
  ) -> Task<Void, Never> {
    perform({ try await self.sendAndWait(draft, in: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func edit(
    _ target: Draft.Target, in conversation: ID<Conversation>, to text: String,
    then: @escaping Completion<OutboxOperation>
  ) -> Task<Void, Never> {
    perform({ try await self.edit(target, in: conversation, to: text) }, then: then)
  }

  @discardableResult
  public nonisolated func delete(
    _ target: Draft.Target, in conversation: ID<Conversation>, andFiles: Bool = false,
    then: @escaping Completion<OutboxOperation?>
  ) -> Task<Void, Never> {
    perform({ try await self.delete(target, in: conversation, andFiles: andFiles) }, then: then)
  }

  @discardableResult
  public nonisolated func setAction(
    _ type: String, on target: Draft.Target, in conversation: ID<Conversation>, isSet: Bool = true,
    then: @escaping Completion<OutboxOperation?>
  ) -> Task<Void, Never> {
    perform({ try await self.setAction(type, on: target, in: conversation, isSet: isSet) }, then: then)
  }

  @discardableResult
  public nonisolated func markRead(
    _ message: ID<Message>, in conversation: ID<Conversation>, then: @escaping Completion<OutboxOperation>
  ) -> Task<Void, Never> {
    perform({ try await self.markRead(message, in: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func list(
    _ kind: OutboxOperation.Kind? = nil, in conversation: ID<Conversation>? = nil,
    then: @escaping Completion<[OutboxOperation]>
  ) -> Task<Void, Never> {
    perform({ await self.list(kind, in: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func retry(_ id: OutboxOperation.Name, then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.retry(id) }, then: then)
  }

  @discardableResult
  public nonisolated func cancel(_ id: OutboxOperation.Name, then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.cancel(id) }, then: then)
  }

  @discardableResult
  public nonisolated func start(then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.start() }, then: then)
  }

  @discardableResult
  public nonisolated func stop(then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ await self.stop() }, then: then)
  }

  @discardableResult
  public nonisolated func networkAvailable(then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ await self.networkAvailable() }, then: then)
  }

  @discardableResult
  public nonisolated func sendAll(
    in conversation: ID<Conversation>? = nil, then: @escaping Completion<ClientFault?>
  ) -> Task<Void, Never> {
    perform({ try await self.sendAll(in: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func sendWaiting(then: @escaping Completion<OutboxRound>) -> Task<Void, Never> {
    perform({ try await self.sendWaiting() }, then: then)
  }

  @discardableResult
  public nonisolated func resend(_ orphan: ID<Message>, then: @escaping Completion<OutboxOperation>) -> Task<
    Void, Never
  > {
    perform({ try await self.resend(orphan) }, then: then)
  }

  @discardableResult
  public nonisolated func discard(_ orphan: ID<Message>, then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.discard(orphan) }, then: then)
  }
}

extension Sync {
  @discardableResult
  public nonisolated func begin(then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.begin() }, then: then)
  }

  @discardableResult
  public nonisolated func verifyUser(then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.verifyUser() }, then: then)
  }

  @discardableResult
  public nonisolated func reset(then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.reset() }, then: then)
  }

  @discardableResult
  public nonisolated func receive(_ events: [ReceivedEvent], then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.receive(events) }, then: then)
  }

  @discardableResult
  public nonisolated func caughtUp(to cursor: EventCursor, then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.caughtUp(to: cursor) }, then: then)
  }

  @discardableResult
  public nonisolated func pull(_ stream: EventStream, then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.pull(stream) }, then: then)
  }

  @discardableResult
  public nonisolated func catchUp(wait: Int = 0, then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.catchUp(wait: wait) }, then: then)
  }

  @discardableResult
  public nonisolated func fetchNewest(
    in conversation: ID<Conversation>, then: @escaping Completion<[Message]>
  ) -> Task<Void, Never> {
    perform({ try await self.fetchNewest(in: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func refresh(_ messages: [ID<Message>], then: @escaping Completion<[MessageView]>) -> Task<
    Void, Never
  > {
    perform({ try await self.refresh(messages) }, then: then)
  }

  @discardableResult
  public nonisolated func refresh(_ conversation: ID<Conversation>, then: @escaping Completion<Void>) -> Task<
    Void, Never
  > {
    perform({ try await self.refresh(conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func refresh(_ forum: ID<Forum>, then: @escaping Completion<Void>) -> Task<Void, Never> {
    perform({ try await self.refresh(forum) }, then: then)
  }

  @discardableResult
  public nonisolated func fetchOlder(
    than seq: Int, in conversation: ID<Conversation>, limit: Int = 50, then: @escaping Completion<Void>
  ) -> Task<Void, Never> {
    perform({ try await self.fetchOlder(than: seq, in: conversation, limit: limit) }, then: then)
  }

  @discardableResult
  public nonisolated func fetch(
    _ seqs: ClosedRange<Int>, of conversation: ID<Conversation>, then: @escaping Completion<Void>
  ) -> Task<Void, Never> {
    perform({ try await self.fetch(seqs, of: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func fetchAll(
    _ conversations: [ID<Conversation>], started: @escaping @Sendable () -> Void = {},
    progress: @escaping @Sendable (_ conversation: ID<Conversation>, _ left: Int) -> Void = { _, _ in },
    then: @escaping Completion<Void>
  ) -> Task<Void, Never> {
    perform({ try await self.fetchAll(conversations, started: started, progress: progress) }, then: then)
  }

  @discardableResult
  public nonisolated func privateChannel(_ spec: ConversationSpec, then: @escaping Completion<ID<Conversation>>)
    -> Task<Void, Never>
  {
    perform({ try await self.privateChannel(spec) }, then: then)
  }

  @discardableResult
  public nonisolated func privateChannels(
    _ specs: [ConversationSpec], then: @escaping Completion<[String: ID<Conversation>]>
  ) -> Task<Void, Never> {
    perform({ try await self.privateChannels(specs) }, then: then)
  }

  @discardableResult
  public nonisolated func verify(_ conversation: ID<Conversation>, then: @escaping Completion<VerificationResult>) -> Task<
    Void, Never
  > {
    perform({ try await self.verify(conversation) }, then: then)
  }
}

extension MessageWindow {
  @discardableResult
  public nonisolated func newest(then: @escaping Completion<Update>) -> Task<Void, Never> {
    perform({ try await self.newest() }, then: then)
  }

  @discardableResult
  public nonisolated func older(_ count: Int? = nil, then: @escaping Completion<Update>) -> Task<Void, Never> {
    perform({ try await self.older(count) }, then: then)
  }

  @discardableResult
  public nonisolated func newer(_ count: Int? = nil, then: @escaping Completion<Update>) -> Task<Void, Never> {
    perform({ try await self.newer(count) }, then: then)
  }

  @discardableResult
  public nonisolated func around(_ message: ID<Message>, then: @escaping Completion<Update>) -> Task<Void, Never> {
    perform({ try await self.around(message) }, then: then)
  }
}

extension Cache {
  @discardableResult
  public nonisolated func newest(
    _ limit: Int, in conversation: ID<Conversation>, then: @escaping Completion<[ShownMessage]>
  ) -> Task<Void, Never> { perform({ try await self.newest(limit, in: conversation) }, then: then) }

  @discardableResult
  public nonisolated func search(
    _ text: String, in conversation: ID<Conversation>? = nil, since: Int64? = nil, before: Int64? = nil,
    limit: Int = 50, where isIncluded: (@Sendable (ShownMessage) -> Bool)? = nil,
    then: @escaping Completion<SearchResult>
  ) -> Task<Void, Never> {
    perform(
      { try await self.search(text, in: conversation, since: since, before: before, limit: limit, where: isIncluded) },
      then: then)
  }

  @discardableResult
  public nonisolated func searchLocations(
    _ text: String, in conversation: ID<Conversation>? = nil, since: Int64? = nil, before: Int64? = nil,
    limit: Int = 50, where isIncluded: (@Sendable (ShownMessage) -> Bool)? = nil,
    then: @escaping Completion<SearchResult>
  ) -> Task<Void, Never> {
    perform(
      {
        try await self.searchLocations(text, in: conversation, since: since, before: before, limit: limit, where: isIncluded)
      }, then: then)
  }

  @discardableResult
  public nonisolated func find(
    _ features: [MessageFeature], in conversation: ID<Conversation>? = nil, since: Int64? = nil, before: Int64? = nil,
    limit: Int = 50, where isIncluded: (@Sendable (ShownMessage) -> Bool)? = nil,
    then: @escaping Completion<SearchResult>
  ) -> Task<Void, Never> {
    perform(
      { try await self.find(features, in: conversation, since: since, before: before, limit: limit, where: isIncluded) },
      then: then)
  }

  @discardableResult
  public nonisolated func messagesByDate(
    in conversation: ID<Conversation>, since: Int64? = nil, before: Int64? = nil,
    limit: Int = 50, where isIncluded: (@Sendable (ShownMessage) -> Bool)? = nil,
    then: @escaping Completion<SearchResult>
  ) -> Task<Void, Never> {
    perform(
      { try await self.messagesByDate(in: conversation, since: since, before: before, limit: limit, where: isIncluded) },
      then: then)
  }

  @discardableResult
  public nonisolated func messagesWithAction(
    _ type: String, in conversation: ID<Conversation>, before: Int64? = nil, limit: Int = 50,
    then: @escaping Completion<[ShownMessage]>
  ) -> Task<Void, Never> {
    perform({ try await self.messagesWithAction(type, in: conversation, before: before, limit: limit) }, then: then)
  }

  @discardableResult
  public nonisolated func hasAction(_ type: String, on target: Draft.Target, then: @escaping Completion<Bool>) -> Task<
    Void, Never
  > {
    perform({ try await self.hasAction(type, on: target) }, then: then)
  }

  @discardableResult
  public nonisolated func user(_ id: ID<User>, then: @escaping Completion<User?>) -> Task<Void, Never> {
    perform({ await self.user(id) }, then: then)
  }
}
