public import ParleyJSON
public import ParleyModel

// Messages, actions on them, and search.

extension Request where Response == Page<Resource<MessageView>> {
  /// `GET /conversations/{id}/messages`
  ///
  /// - Parameters:
  ///   - before: like all ids and times, bounds the first page only.
  ///   - atTime: the page around the first message that is not earlier.
  public static func listMessages(
    in conversation: ID<Conversation>, before: ID<Message>? = nil, after: ID<Message>? = nil,
    around: ID<Message>? = nil, atTime: Timestamp? = nil, beforeTime: Timestamp? = nil, afterTime: Timestamp? = nil,
    order: MessageOrder? = nil, limit: Int? = nil, next: String? = nil, previous: String? = nil,
    includeDeleted: Bool? = nil,
    includeMachine: Bool? = nil, includeMuted: Bool? = nil,
    html: Bool? = nil
  ) -> Request {
    Request(
      .get, "/conversations/{id}/messages", [conversation.description],
      query: QueryItem.between(after: after, before: before)
        + QueryItem.between(afterTime: afterTime, beforeTime: beforeTime) + [
          QueryItem("around", around), QueryItem("at_time", atTime), QueryItem("order", order),
          QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous),
          QueryItem("include_deleted", includeDeleted), QueryItem("include_machine", includeMachine),
          QueryItem("include_muted", includeMuted), QueryItem("html", html),
        ])
  }

  /// `GET /messages`
  public static func getMessages(ids: [ID<Message>], html: Bool? = nil) -> Request {
    Request(.get, "/messages", query: [QueryItem("ids", ids: ids), QueryItem("html", html)])
  }

  /// `GET /messages/{id}/replies`
  public static func listReplies(
    to message: ID<Message>, limit: Int? = nil, next: String? = nil, previous: String? = nil, html: Bool? = nil
  )
    -> Request
  {
    Request(
      .get, "/messages/{id}/replies", [message.description],
      query: [
        QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous), QueryItem("html", html),
      ])
  }

  /// `GET /me/actions`
  public static func listMyActions(
    type: String, limit: Int? = nil, next: String? = nil, previous: String? = nil, html: Bool? = nil
  ) -> Request {
    Request(
      .get, "/me/actions",
      query: [
        QueryItem("type", type), QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous),
        QueryItem("html", html),
      ])
  }

  /// `GET /users/{id}/stars`
  public static func listStars(
    of user: UserReference, limit: Int? = nil, next: String? = nil, previous: String? = nil, html: Bool? = nil
  ) -> Request {
    Request(
      .get, "/users/{id}/stars", [user.description],
      query: [
        QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous), QueryItem("html", html),
      ])
  }

  /// `GET /timeline`
  ///
  /// - Parameters:
  ///   - mentions: whether the posts and replies of all feeds that mention the user are included.
  ///   - filter: the name of a saved filter. A page may then have fewer posts than `limit`, or none, and a next page.
  public static func getTimeline(
    mentions: Bool? = nil, filter: String? = nil, limit: Int? = nil, next: String? = nil, previous: String? = nil,
    html: Bool? = nil
  ) -> Request {
    Request(
      .get, "/timeline",
      query: [
        QueryItem("mentions", mentions), QueryItem("filter", filter), QueryItem("limit", limit),
        QueryItem("next", next), QueryItem("previous", previous), QueryItem("html", html),
      ])
  }

  /// `GET /timeline/global`
  ///
  /// - Parameter filter: as in `getTimeline`.
  public static func getGlobalTimeline(
    filter: String? = nil, limit: Int? = nil, next: String? = nil, previous: String? = nil, html: Bool? = nil
  ) -> Request {
    Request(
      .get, "/timeline/global",
      query: [
        QueryItem("filter", filter), QueryItem("limit", limit), QueryItem("next", next),
        QueryItem("previous", previous), QueryItem("html", html),
      ])
  }
}

extension Request where Response == Resource<MessageView> {
  /// `POST /conversations/{id}/messages`
  ///
  /// - Parameters:
  ///   - descriptions: of the attached pictures, in the order of the attachments; empty for one without.
  ///   - poll: its question is the text.
  ///   - buttons: of a bot's message. A press is a `button.pressed` event in the bot's own stream.
  ///   - sentAt: the device's time.
  ///   - catchUpAfter: the last cached message. A `Request<SentMessage>` reads the messages after it.
  ///   - clientID: the idempotency key, unique per author.
  public static func postMessage(
    in conversation: ID<Conversation>, _ text: String, replyTo: ID<Message>? = nil, attachments: [ID<File>]? = nil,
    descriptions: [String]? = nil, annotations: [Draft.Annotation]? = nil, poll: PollDraft? = nil,
    buttons: [MessageButton]? = nil,
    isMachineOnly: Bool? = nil, sentAt: Timestamp? = nil, catchUpAfter: ID<Message>? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.message(
      text, replyTo: replyTo, attachments: attachments, descriptions: descriptions, annotations: annotations,
      poll: poll, buttons: buttons,
      isMachineOnly: isMachineOnly, sentAt: sentAt, catchUpAfter: catchUpAfter, clientID: clientID)
    return Request(.post, "/conversations/{id}/messages", [conversation.description], body: body).withClientID(clientID)
  }

  /// `GET /messages/{id}`
  public static func getMessage(_ message: ID<Message>, html: Bool? = nil) -> Request {
    Request(.get, "/messages/{id}", [message.description], query: [QueryItem("html", html)])
  }

  /// `PATCH /messages/{id}`
  ///
  /// - Parameters:
  ///   - attachments: replaces all attachments.
  ///   - descriptions: replaces all descriptions. Without them, each remaining attachment keeps its own.
  ///   - buttons: replaces all buttons.
  public static func editMessage(
    _ message: ID<Message>, text: String? = nil, attachments: [ID<File>]? = nil, descriptions: [String]? = nil,
    buttons: [MessageButton]? = nil, ifRevision: Int? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.optional("text", text)
      json.optional("attachments", attachments)
      json.optional("descriptions", descriptions)
      json.optional("buttons", buttons)
      json.optional("if_revision", ifRevision)
    }
    return Request(.patch, "/messages/{id}", [message.description], body: body)
  }

  /// `DELETE /messages/{id}`
  public static func deleteMessage(_ message: ID<Message>) -> Request {
    Request(.delete, "/messages/{id}", [message.description])
  }

  /// `POST /messages/{id}/remove`
  public static func removeMessage(_ message: ID<Message>, reason: String? = nil) -> Request {
    Request(.post, "/messages/{id}/remove", [message.description], body: .reason(reason))
  }

  /// `POST /messages/{id}/restore`
  public static func restoreMessage(_ message: ID<Message>, reason: String? = nil) -> Request {
    Request(.post, "/messages/{id}/restore", [message.description], body: .reason(reason))
  }

  /// `PUT /messages/{id}/actions/{type}`
  public static func setAction(on message: ID<Message>, type: ActionType) -> Request {
    Request(.put, "/messages/{id}/actions/{type}", [message.description, type.name])
  }

  /// `PUT /messages/{id}/vote`
  ///
  /// - Parameter options: the indexes of the chosen options; empty to withdraw the vote.
  public static func setVote(in message: ID<Message>, for options: [Int]) -> Request {
    Request(
      .put, "/messages/{id}/vote", [message.description], body: .object { json in json.field("options", options) })
  }

  /// `POST /messages/{id}/poll/close`
  public static func closePoll(of message: ID<Message>) -> Request {
    Request(.post, "/messages/{id}/poll/close", [message.description])
  }
}

extension Request where Response == Void {
  /// `DELETE /messages/{id}/revisions/{revision}`
  public static func deleteRevision(of message: ID<Message>, revision: Int) -> Request {
    Request(.delete, "/messages/{id}/revisions/{revision}", [message.description, revision.description])
  }

  /// `DELETE /messages/{id}/actions/{type}`
  public static func removeAction(on message: ID<Message>, type: ActionType) -> Request {
    Request(.delete, "/messages/{id}/actions/{type}", [message.description, type.name])
  }
}

extension Request where Response == Page<Resource<MessageRevision>> {
  /// `GET /messages/{id}/revisions`
  public static func listRevisions(
    of message: ID<Message>, limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/messages/{id}/revisions", [message.description],
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Page<Resource<MessageAction>> {
  /// `GET /messages/{id}/actions`
  public static func listActions(
    on message: ID<Message>, type: String? = nil, limit: Int? = nil, next: String? = nil, previous: String? = nil
  )
    -> Request
  {
    Request(
      .get, "/messages/{id}/actions", [message.description],
      query: [
        QueryItem("type", type), QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous),
      ])
  }
}

extension Request where Response == Page<Resource<Vote>> {
  /// `GET /messages/{id}/votes`
  public static func listVotes(
    in message: ID<Message>, option: Int? = nil, limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/messages/{id}/votes", [message.description],
      query: [
        QueryItem("option", option), QueryItem("limit", limit), QueryItem("next", next),
        QueryItem("previous", previous),
      ])
  }
}

extension Request where Response == Page<Resource<SearchMatch>> {
  /// `GET /messages/search`
  public static func searchMessages(
    q: String? = nil, language: String? = nil, conversation: ID<Conversation>? = nil, forum: ID<Forum>? = nil,
    author: String? = nil, mention: String? = nil, hashtag: String? = nil, annotation: String? = nil,
    action: String? = nil,
    location: String? = nil, near: String? = nil, within: Int? = nil, has: String? = nil, before: ID<Message>? = nil,
    after: ID<Message>? = nil, beforeTime: Timestamp? = nil, afterTime: Timestamp? = nil,
    order: SearchResultOrder? = nil, kind: SearchKind? = nil, counts: Bool? = nil,
    limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/messages/search",
      query: [
        QueryItem("q", q), QueryItem("language", language), QueryItem("conversation", conversation),
        QueryItem("forum", forum),
        QueryItem("author", author), QueryItem("mention", mention), QueryItem("hashtag", hashtag),
        QueryItem("annotation", annotation), QueryItem("action", action), QueryItem("location", location),
        QueryItem("near", near), QueryItem("within", within), QueryItem("has", has), QueryItem("order", order),
        QueryItem("kind", kind), QueryItem("counts", counts),
        QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous),
      ] + QueryItem.between(after: after, before: before)
        + QueryItem.between(afterTime: afterTime, beforeTime: beforeTime))
  }
}

extension Page<Resource<SearchMatch>> {
  /// The number of matching topics and messages, each up to 1,000; nil unless the request had `counts`.
  public var counts: SearchCounts? { Fact(representation).member("counts") }
}

extension Request where Response == Page<Resource<MessageReceipt>> {
  /// `GET /messages/{id}/receipts`
  public static func listReceipts(of message: ID<Message>) -> Request {
    Request(.get, "/messages/{id}/receipts", [message.description])
  }
}

extension Request where Response == Resource<NewTopic> {
  /// `POST /messages/{id}/topic`
  public static func createTopicFromMessage(of message: ID<Message>, title: String) -> Request {
    Request(
      .post, "/messages/{id}/topic", [message.description], body: .object { json in json.field("title", title) })
  }
}

extension RequestBody {
  static func message(
    _ text: String, replyTo: ID<Message>?, attachments: [ID<File>]?, descriptions: [String]?,
    annotations: [Draft.Annotation]?,
    poll: PollDraft?, buttons: [MessageButton]? = nil, isMachineOnly: Bool?, sentAt: Timestamp?,
    catchUpAfter: ID<Message>?, clientID: String?
  ) -> RequestBody {
    .object { json in
      json.optional("client_id", clientID)
      json.field("text", text)
      json.optional("sent_at", sentAt)
      json.optional("reply_to", replyTo)
      json.optional("attachments", attachments)
      json.optional("descriptions", descriptions)
      json.optional("annotations", annotations)
      json.optional("poll", poll)
      json.optional("buttons", buttons)
      json.optional("machine_only", isMachineOnly)
      json.optional("catch_up_after", catchUpAfter)
    }
  }
}

extension Request where Response == Resource<ButtonPress> {
  /// `POST /messages/{id}/presses`
  ///
  /// - Parameters:
  ///   - button: the `id` of a button of the message.
  ///   - clientID: the idempotency key, unique per user.
  public static func pressButton(
    _ button: String, of message: ID<Message>, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("button_id", button)
      json.optional("client_id", clientID)
    }
    return Request(.post, "/messages/{id}/presses", [message.description], body: body).withClientID(clientID)
  }
}

extension Request where Response == Page<Resource<ReplyCount>> {
  /// `GET /messages/reply-counts`
  ///
  /// - Parameter messages: at most `ReplyCount.maxMessages`.
  public static func listReplyCounts(of messages: [ID<Message>]) -> Request {
    Request(
      .get, "/messages/reply-counts", query: [QueryItem("ids", messages.map(\.description).joined(separator: ","))])
  }
}
