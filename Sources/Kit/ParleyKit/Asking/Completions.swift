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
    ParleyKit.answer(
      { try await self.upload(file, clientID: clientID, public: isPublic, progress: progress) }, then: then)
  }

  @discardableResult
  public func resume(
    _ upload: ID<Upload>, of file: FileSource,
    progress: (@Sendable (_ sent: Int, _ size: Int) -> Void)? = nil, then: @escaping Completion<Resource<File>>
  ) -> Task<Void, Never> {
    ParleyKit.answer({ try await self.resume(upload, of: file, progress: progress) }, then: then)
  }

  @discardableResult
  public func download(
    _ file: ID<File>, from start: Int = 0,
    progress: (@Sendable (_ received: Int, _ size: Int?) -> Void)? = nil,
    _ take: @escaping @Sendable ([UInt8]) -> Void, then: @escaping Completion<Void>
  ) -> Task<Void, Never> {
    ParleyKit.answer(
      { try await self.download(file, from: start, progress: progress) { piece in take(piece) } }, then: then)
  }
}

extension OwnSession {
  @discardableResult
  public func signIn(
    _ name: String, password: String, device: String = "", then: @escaping Completion<String>
  ) -> Task<Void, Never> {
    answer({ try await self.signIn(name, password: password, device: device) }, then: then)
  }

  @discardableResult
  public func verify(
    then: @escaping Completion<(person: Resource<Person>, asksDiscoverability: Bool)>
  ) -> Task<Void, Never> {
    answer({ try await self.verify() }, then: then)
  }

  @discardableResult
  public func configurationIfDue(
    then: @escaping Completion<(configuration: Resource<PlaceDescription>, wasAsked: Bool)>
  ) -> Task<Void, Never> {
    answer({ try await self.configurationIfDue() }, then: then)
  }

  @discardableResult
  public func signOut(then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.signOut() }, then: then)
  }
}

extension Parley {
  @discardableResult
  public nonisolated func start(then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ await self.start() }, then: then)
  }

  @discardableResult
  public nonisolated func stop(then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ await self.stop() }, then: then)
  }

  @discardableResult
  public nonisolated func hurry(then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ await self.hurry() }, then: then)
  }

  @discardableResult
  public nonisolated func unreachable(then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ await self.unreachable() }, then: then)
  }

  @discardableResult
  public nonisolated func signOut(isForced: Bool = false, then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.signOut(isForced: isForced) }, then: then)
  }

  @discardableResult
  public nonisolated func message(
    ofPayload payload: [UInt8], then: @escaping Completion<ShownMessage>
  ) -> Task<Void, Never> {
    answer({ try await self.message(ofPayload: payload) }, then: then)
  }

  @discardableResult
  public nonisolated func picture(
    _ file: ID<File>, width: Int? = nil, height: Int? = nil, then: @escaping Completion<[UInt8]>
  ) -> Task<Void, Never> {
    answer({ try await self.picture(file, width: width, height: height) }, then: then)
  }

  @discardableResult
  public nonisolated func avatar(of account: Account, then: @escaping Completion<[UInt8]>) -> Task<Void, Never> {
    answer({ try await self.avatar(of: account) }, then: then)
  }

  @discardableResult
  public nonisolated func icon(of forum: Forum, then: @escaping Completion<[UInt8]>) -> Task<Void, Never> {
    answer({ try await self.icon(of: forum) }, then: then)
  }
}

extension Outbox {
  @discardableResult
  public nonisolated func send(
    _ draft: Draft, in conversation: ID<Conversation>, then: @escaping Completion<OutboxOperation>
  ) -> Task<Void, Never> {
    answer({ try await self.send(draft, in: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func create(
    _ draft: Draft, in conversation: ID<Conversation>, then: @escaping Completion<[Message]>
  ) -> Task<Void, Never> {
    answer({ try await self.create(draft, in: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func edit(
    _ target: Draft.Target, in conversation: ID<Conversation>, to text: String,
    then: @escaping Completion<OutboxOperation>
  ) -> Task<Void, Never> {
    answer({ try await self.edit(target, in: conversation, to: text) }, then: then)
  }

  @discardableResult
  public nonisolated func delete(
    _ target: Draft.Target, in conversation: ID<Conversation>, andFiles: Bool = false,
    then: @escaping Completion<OutboxOperation?>
  ) -> Task<Void, Never> {
    answer({ try await self.delete(target, in: conversation, andFiles: andFiles) }, then: then)
  }

  @discardableResult
  public nonisolated func act(
    _ type: String, on target: Draft.Target, in conversation: ID<Conversation>, isSet: Bool = true,
    then: @escaping Completion<OutboxOperation?>
  ) -> Task<Void, Never> {
    answer({ try await self.act(type, on: target, in: conversation, isSet: isSet) }, then: then)
  }

  @discardableResult
  public nonisolated func markRead(
    _ message: ID<Message>, in conversation: ID<Conversation>, then: @escaping Completion<OutboxOperation>
  ) -> Task<Void, Never> {
    answer({ try await self.markRead(message, in: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func list(
    _ kind: OutboxOperation.Kind? = nil, in conversation: ID<Conversation>? = nil,
    then: @escaping Completion<[OutboxOperation]>
  ) -> Task<Void, Never> {
    answer({ await self.list(kind, in: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func retry(_ id: OutboxOperation.Name, then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.retry(id) }, then: then)
  }

  @discardableResult
  public nonisolated func cancel(_ id: OutboxOperation.Name, then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.cancel(id) }, then: then)
  }

  @discardableResult
  public nonisolated func start(then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.start() }, then: then)
  }

  @discardableResult
  public nonisolated func stop(then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ await self.stop() }, then: then)
  }

  @discardableResult
  public nonisolated func networkIsBack(then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ await self.networkIsBack() }, then: then)
  }

  @discardableResult
  public nonisolated func sendAll(
    in conversation: ID<Conversation>? = nil, then: @escaping Completion<ClientFault?>
  ) -> Task<Void, Never> {
    answer({ try await self.sendAll(in: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func sendWaiting(then: @escaping Completion<OutboxRound>) -> Task<Void, Never> {
    answer({ try await self.sendWaiting() }, then: then)
  }

  @discardableResult
  public nonisolated func offerAgain(_ orphan: ID<Message>, then: @escaping Completion<OutboxOperation>) -> Task<
    Void, Never
  > {
    answer({ try await self.offerAgain(orphan) }, then: then)
  }

  @discardableResult
  public nonisolated func forget(_ orphan: ID<Message>, then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.forget(orphan) }, then: then)
  }
}

extension Sync {
  @discardableResult
  public nonisolated func begin(then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.begin() }, then: then)
  }

  @discardableResult
  public nonisolated func verifyPerson(then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.verifyPerson() }, then: then)
  }

  @discardableResult
  public nonisolated func reset(then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.reset() }, then: then)
  }

  @discardableResult
  public nonisolated func take(_ events: [ReceivedEvent], then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.take(events) }, then: then)
  }

  @discardableResult
  public nonisolated func caughtUp(to cursor: EventCursor, then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.caughtUp(to: cursor) }, then: then)
  }

  @discardableResult
  public nonisolated func pull(_ stream: EventStream, then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.pull(stream) }, then: then)
  }

  @discardableResult
  public nonisolated func catchUp(wait: Int = 0, then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.catchUp(wait: wait) }, then: then)
  }

  @discardableResult
  public nonisolated func fetchNewest(
    in conversation: ID<Conversation>, then: @escaping Completion<[Message]>
  ) -> Task<Void, Never> {
    answer({ try await self.fetchNewest(in: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func refresh(_ messages: [ID<Message>], then: @escaping Completion<[SeenMessage]>) -> Task<
    Void, Never
  > {
    answer({ try await self.refresh(messages) }, then: then)
  }

  @discardableResult
  public nonisolated func refresh(_ conversation: ID<Conversation>, then: @escaping Completion<Void>) -> Task<
    Void, Never
  > {
    answer({ try await self.refresh(conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func refresh(_ forum: ID<Forum>, then: @escaping Completion<Void>) -> Task<Void, Never> {
    answer({ try await self.refresh(forum) }, then: then)
  }

  @discardableResult
  public nonisolated func fetchOlder(
    than seq: Int, in conversation: ID<Conversation>, limit: Int = 50, then: @escaping Completion<Void>
  ) -> Task<Void, Never> {
    answer({ try await self.fetchOlder(than: seq, in: conversation, limit: limit) }, then: then)
  }

  @discardableResult
  public nonisolated func fetch(
    _ seqs: ClosedRange<Int>, of conversation: ID<Conversation>, then: @escaping Completion<Void>
  ) -> Task<Void, Never> {
    answer({ try await self.fetch(seqs, of: conversation) }, then: then)
  }

  @discardableResult
  public nonisolated func fetchAll(
    _ conversations: [ID<Conversation>], started: @escaping @Sendable () -> Void = {},
    progress: @escaping @Sendable (_ conversation: ID<Conversation>, _ left: Int) -> Void = { _, _ in },
    then: @escaping Completion<Void>
  ) -> Task<Void, Never> {
    answer({ try await self.fetchAll(conversations, started: started, progress: progress) }, then: then)
  }

  @discardableResult
  public nonisolated func privateChannel(_ spec: ConversationSpec, then: @escaping Completion<ID<Conversation>>)
    -> Task<Void, Never>
  {
    answer({ try await self.privateChannel(spec) }, then: then)
  }

  @discardableResult
  public nonisolated func privateChannels(
    _ specs: [ConversationSpec], then: @escaping Completion<[String: ID<Conversation>]>
  ) -> Task<Void, Never> {
    answer({ try await self.privateChannels(specs) }, then: then)
  }

  @discardableResult
  public nonisolated func verify(_ conversation: ID<Conversation>, then: @escaping Completion<Verdict>) -> Task<
    Void, Never
  > {
    answer({ try await self.verify(conversation) }, then: then)
  }
}

extension MessageWindow {
  @discardableResult
  public nonisolated func newest(then: @escaping Completion<Update>) -> Task<Void, Never> {
    answer({ try await self.newest() }, then: then)
  }

  @discardableResult
  public nonisolated func older(_ count: Int? = nil, then: @escaping Completion<Update>) -> Task<Void, Never> {
    answer({ try await self.older(count) }, then: then)
  }

  @discardableResult
  public nonisolated func newer(_ count: Int? = nil, then: @escaping Completion<Update>) -> Task<Void, Never> {
    answer({ try await self.newer(count) }, then: then)
  }

  @discardableResult
  public nonisolated func around(_ message: ID<Message>, then: @escaping Completion<Update>) -> Task<Void, Never> {
    answer({ try await self.around(message) }, then: then)
  }
}

extension Cache {
  @discardableResult
  public nonisolated func newest(
    _ limit: Int, in conversation: ID<Conversation>, then: @escaping Completion<[ShownMessage]>
  ) -> Task<Void, Never> { answer({ try await self.newest(limit, in: conversation) }, then: then) }

  @discardableResult
  public nonisolated func search(
    _ text: String, in conversation: ID<Conversation>? = nil, since: Int64? = nil, before: Int64? = nil,
    limit: Int = 50, where isWanted: (@Sendable (ShownMessage) -> Bool)? = nil,
    then: @escaping Completion<FoundMessages>
  ) -> Task<Void, Never> {
    answer(
      { try await self.search(text, in: conversation, since: since, before: before, limit: limit, where: isWanted) },
      then: then)
  }

  @discardableResult
  public nonisolated func searchPlaces(
    _ text: String, in conversation: ID<Conversation>? = nil, since: Int64? = nil, before: Int64? = nil,
    limit: Int = 50, where isWanted: (@Sendable (ShownMessage) -> Bool)? = nil,
    then: @escaping Completion<FoundMessages>
  ) -> Task<Void, Never> {
    answer(
      {
        try await self.searchPlaces(text, in: conversation, since: since, before: before, limit: limit, where: isWanted)
      }, then: then)
  }

  @discardableResult
  public nonisolated func find(
    _ features: [MessageFeature], in conversation: ID<Conversation>? = nil, since: Int64? = nil, before: Int64? = nil,
    limit: Int = 50, where isWanted: (@Sendable (ShownMessage) -> Bool)? = nil,
    then: @escaping Completion<FoundMessages>
  ) -> Task<Void, Never> {
    answer(
      { try await self.find(features, in: conversation, since: since, before: before, limit: limit, where: isWanted) },
      then: then)
  }

  @discardableResult
  public nonisolated func stored(
    in conversation: ID<Conversation>, since: Int64? = nil, before: Int64? = nil,
    limit: Int = 50, where isWanted: (@Sendable (ShownMessage) -> Bool)? = nil,
    then: @escaping Completion<FoundMessages>
  ) -> Task<Void, Never> {
    answer(
      { try await self.stored(in: conversation, since: since, before: before, limit: limit, where: isWanted) },
      then: then)
  }

  @discardableResult
  public nonisolated func actioned(
    _ type: String, in conversation: ID<Conversation>, before: Int64? = nil, limit: Int = 50,
    then: @escaping Completion<[ShownMessage]>
  ) -> Task<Void, Never> {
    answer({ try await self.actioned(type, in: conversation, before: before, limit: limit) }, then: then)
  }

  @discardableResult
  public nonisolated func has(_ type: String, on target: Draft.Target, then: @escaping Completion<Bool>) -> Task<
    Void, Never
  > {
    answer({ try await self.has(type, on: target) }, then: then)
  }

  @discardableResult
  public nonisolated func person(_ id: ID<Account>, then: @escaping Completion<Person?>) -> Task<Void, Never> {
    answer({ await self.person(id) }, then: then)
  }
}
