// Polls of pnut stand by themselves. Here a poll is part of a message, so a poll of pnut is a post with its question.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension Pnut {
  static func addPolls(to table: inout Table) throws {
    try table.on(.post, "/polls", as: "POST /conversations/{id}/messages") { try await $0.createPoll() }
    try table.on(.get, "/polls/{id}", as: "GET /messages/{id}") { try await $0.getPoll() }
    try table.on(.delete, "/polls/{id}", as: "DELETE /messages/{id}") { try await $0.deletePoll() }
    try table.on(.put, "/polls/{id}/response", as: "PUT /messages/{id}/vote") { try await $0.vote() }
    try table.on(.put, "/polls/{id}/response/{position}", as: "PUT /messages/{id}/vote") { try await $0.vote() }
    try table.on(.get, "/users/me/polls", as: "GET /users/{id}/feed") { try await $0.listOwnPolls() }
  }
}

/// A poll of pnut: a message with a poll.
struct PnutPoll: JSONWritable {
  let view: MessageView
  let poll: Poll
  let question: String
  let author: PnutUser?
  let source: PnutSource
  /// Milliseconds since 1970.
  let now: Int64

  static let type = "io.pnut.core.poll"

  func write(to json: inout JSONWriter) {
    let message = view.message
    json.object { json in
      json.field("id", message.id)
      json.field("pagination_id", message.id)
      json.field("type", Self.type)
      json.field("prompt", question)
      json.field("created_at", PnutCall.time(message.createdAt))
      if let end = poll.closesAt { json.field("closed_at", PnutCall.time(end)) }
      json.field("is_anonymous", poll.isAnonymous)
      json.field("is_public", true)
      json.field("max_options", poll.choices)
      json.field("poll_token", message.id)
      json.array("options") { json in
        for (index, option) in poll.options.enumerated() {
          json.object { json in
            json.field("text", option.text)
            json.field("position", index + 1)
            json.field("is_your_response", view.vote.contains(index))
            if poll.isClosed(at: now) { json.field("respondents", option.votes) }
          }
        }
      }
      if let author { json.field("user", author) } else { json.field("user_id", message.author) }
      json.field("source", source)
    }
  }
}

extension PnutCall {
  private static let maxOption = 64
  /// Minutes: two weeks.
  private static let maxDuration = 20_160

  /// Posts the question with its options into the feed of the caller.
  func createPoll() async throws -> Response {
    let body = try await body()
    guard let prompt = try body.text("prompt"), !prompt.isEmpty else { throw Refusal.invalid("prompt", .missing) }
    guard prompt.unicodeScalars.count <= Self.maxPost else {
      throw Refusal.invalid("prompt", .tooLong(limit: Self.maxPost))
    }
    let options = try (try body.array("options") ?? []).map { value in
      let named = try value.kind == .object ? LenientBody(value.object()).text("text") : LenientValue.text(value)
      guard let text = named, !text.isEmpty else { throw Refusal.invalid("options", .missing) }
      guard text.unicodeScalars.count <= Self.maxOption else {
        throw Refusal.invalid("options", .tooLong(limit: Self.maxOption))
      }
      return text
    }
    var draft = MessageDraft(text: prompt, clientID: nil)
    draft.poll = PollDraft(
      options, choices: try body.number("max_options") ?? 1, isAnonymous: try body.flag("is_anonymous") ?? false,
      closesAt: try end(of: body))
    let posted = try await community.postMessage(draft, in: try await ownFeed(), by: caller)
    if posted.isPrivate { context.refund(.sending) }
    return .envelope(try polls([posted.message]).first, .created)
  }

  private func end(of body: LenientBody) throws -> Int64? {
    if let minutes = try body.number("duration") {
      guard (1...Self.maxDuration).contains(minutes) else {
        throw Refusal.invalid("duration", .outOfRange(1...Self.maxDuration))
      }
      return try view.getTime() + Int64(minutes) * 60_000
    }
    guard let text = try body.text("closed_at") else { throw Refusal.invalid("duration", .missing) }
    guard let end = Timestamp.parse(text) else { throw Refusal.invalid("closed_at", .invalid) }
    return Int64(end)
  }

  private func polls(_ seen: [MessageView]) throws -> [PnutPoll] {
    let (users, source, now) = (try users(seen.map(\.message.author)), try source(), try view.getTime())
    return seen.compactMap { view in
      guard let content = view.message.content, let poll = content.poll else { return nil }
      return PnutPoll(
        view: view, poll: poll, question: content.text, author: users[view.message.author], source: source, now: now)
    }
  }

  /// The message with the poll in the path. Throws `notFound` for any other.
  private func pollMessage() throws -> MessageView {
    let found = try view.getPlainMessage(try id(), for: caller)
    guard found.message.hasPoll else { throw Refusal.notFound }
    return found
  }

  func getPoll() async throws -> Response { .envelope(try polls([try pollMessage()]).first) }

  func deletePoll() async throws -> Response {
    let found = try pollMessage()
    let shown = try polls([found]).first
    _ = try await community.deleteMessage(found.message.id, by: caller)
    return .envelope(shown)
  }

  /// Votes for `positions`, which count from 1.
  func vote() async throws -> Response {
    let found = try pollMessage().message.id
    var positions = try await body().list("positions") ?? query.list("positions")
    if let position = context.request.parameters["position"] { positions = [position] }
    guard !positions.isEmpty else { throw Refusal.invalid("positions", .missing) }
    let options = try positions.map { text throws(Refusal) in
      guard let position = LenientValue.number(text), position > 0 else { throw .invalid("positions", .invalid) }
      return position - 1
    }
    return .envelope(try polls([try await community.setVote(found, for: options, by: caller)]).first)
  }

  /// The polls in the feed of the caller.
  func listOwnPolls() async throws -> Response {
    let me = try caller.requireUser()
    let feed: ID<Conversation>
    do throws(Refusal) { feed = try view.getFeed(of: me, for: caller).conversation.id } catch {
      guard error == .notFound else { throw error }
      return .envelope([PnutPoll](), page: ListMeta())
    }
    return try await page(
      messages(in: feed) { seen in seen.filter { $0.message.author == me && $0.message.hasPoll } },
      showing: { try polls($0) })
  }
}
