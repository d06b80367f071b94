public import ParleyJSON
public import ParleyModel

// Messages, what was done to them, and looking for them.

extension Request where Answer == Page<Resource<SeenMessage>> {
  /// `GET /conversations/{id}/messages`
  public static func messages(
    in conversation: ID<Conversation>, before: ID<Message>? = nil, after: ID<Message>? = nil,
    around: ID<Message>? = nil, beforeTime: Timestamp? = nil, afterTime: Timestamp? = nil, order: String? = nil,
    limit: Int? = nil, includeDeleted: Bool? = nil, includeMachine: Bool? = nil, includeMuted: Bool? = nil,
    html: Bool? = nil
  ) -> Request {
    Request(
      .get, "/conversations/{id}/messages", [conversation.description],
      query: QueryItem.between(after: after, before: before)
        + QueryItem.between(afterTime: afterTime, beforeTime: beforeTime) + [
          QueryItem("around", around), QueryItem("order", order), QueryItem("limit", limit),
          QueryItem("include_deleted", includeDeleted), QueryItem("include_machine", includeMachine),
          QueryItem("include_muted", includeMuted), QueryItem("html", html),
        ])
  }

  /// `GET /messages`
  public static func messages(ids: String, html: Bool? = nil) -> Request {
    Request(.get, "/messages", query: [QueryItem("ids", ids), QueryItem("html", html)])
  }

  /// `GET /messages/{id}/replies`
  public static func replies(to message: ID<Message>, limit: Int? = nil, next: String? = nil, html: Bool? = nil)
    -> Request
  {
    Request(
      .get, "/messages/{id}/replies", [message.description],
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("html", html)])
  }

  /// `GET /me/actions`
  public static func ownActions(type: String, limit: Int? = nil, next: String? = nil, html: Bool? = nil) -> Request {
    Request(
      .get, "/me/actions",
      query: [QueryItem("type", type), QueryItem("limit", limit), QueryItem("next", next), QueryItem("html", html)])
  }

  /// `GET /timeline`
  public static func timeline(limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/timeline", query: [QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Resource<SeenMessage> {
  /// `POST /conversations/{id}/messages`
  ///
  /// - Parameters:
  ///   - sentAt: by the device's own clock.
  ///   - catchUpAfter: the last message that is held; `Request<SentMessage>` reads what came after it.
  ///   - clientID: names the message for its author, so that sending it again makes no second one.
  public static func post(
    in conversation: ID<Conversation>, _ text: String, replyTo: ID<Message>? = nil, attachments: [ID<File>]? = nil,
    annotations: [Draft.Annotation]? = nil, isMachineOnly: Bool? = nil, sentAt: Timestamp? = nil,
    catchUpAfter: ID<Message>? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.message(
      text, replyTo: replyTo, attachments: attachments, annotations: annotations, isMachineOnly: isMachineOnly,
      sentAt: sentAt, catchUpAfter: catchUpAfter, clientID: clientID)
    return Request(.post, "/conversations/{id}/messages", [conversation.description], body: body).named(clientID)
  }

  /// `GET /messages/{id}`
  public static func message(_ message: ID<Message>, html: Bool? = nil) -> Request {
    Request(.get, "/messages/{id}", [message.description], query: [QueryItem("html", html)])
  }

  /// `PATCH /messages/{id}`
  ///
  /// - Parameter attachments: all that it is to have.
  public static func edit(
    _ message: ID<Message>, text: String? = nil, attachments: [ID<File>]? = nil, ifRevision: Int? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.given("text", text)
      json.given("attachments", attachments)
      json.given("if_revision", ifRevision)
    }
    return Request(.patch, "/messages/{id}", [message.description], body: body)
  }

  /// `DELETE /messages/{id}`
  public static func delete(_ message: ID<Message>) -> Request {
    Request(.delete, "/messages/{id}", [message.description])
  }

  /// `POST /messages/{id}/remove`
  public static func remove(_ message: ID<Message>, reason: String? = nil) -> Request {
    Request(.post, "/messages/{id}/remove", [message.description], body: .reason(reason))
  }

  /// `POST /messages/{id}/restore`
  public static func restore(_ message: ID<Message>, reason: String? = nil) -> Request {
    Request(.post, "/messages/{id}/restore", [message.description], body: .reason(reason))
  }

  /// `PUT /messages/{id}/actions/{type}`
  public static func act(on message: ID<Message>, type: String) -> Request {
    Request(.put, "/messages/{id}/actions/{type}", [message.description, type])
  }
}

extension Request where Answer == Void {
  /// `DELETE /messages/{id}/revisions/{revision}`
  public static func deleteRevision(of message: ID<Message>, revision: Int) -> Request {
    Request(.delete, "/messages/{id}/revisions/{revision}", [message.description, revision.description])
  }

  /// `DELETE /messages/{id}/actions/{type}`
  public static func takeBack(on message: ID<Message>, type: String) -> Request {
    Request(.delete, "/messages/{id}/actions/{type}", [message.description, type])
  }
}

extension Request where Answer == Page<Resource<MessageRevision>> {
  /// `GET /messages/{id}/revisions`
  public static func revisions(of message: ID<Message>, limit: Int? = nil, next: String? = nil) -> Request {
    Request(
      .get, "/messages/{id}/revisions", [message.description],
      query: [QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Page<Resource<MessageAction>> {
  /// `GET /messages/{id}/actions`
  public static func actions(on message: ID<Message>, type: String? = nil, limit: Int? = nil, next: String? = nil)
    -> Request
  {
    Request(
      .get, "/messages/{id}/actions", [message.description],
      query: [QueryItem("type", type), QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Page<Resource<FoundMessage>> {
  /// `GET /messages/search`
  public static func search(
    q: String? = nil, conversation: ID<Conversation>? = nil, forum: ID<Forum>? = nil, author: String? = nil,
    mention: String? = nil, hashtag: String? = nil, annotation: String? = nil, action: String? = nil,
    location: String? = nil, near: String? = nil, within: Int? = nil, has: String? = nil, before: ID<Message>? = nil,
    after: ID<Message>? = nil, beforeTime: Timestamp? = nil, afterTime: Timestamp? = nil, order: String? = nil,
    limit: Int? = nil, next: String? = nil
  ) -> Request {
    Request(
      .get, "/messages/search",
      query: [
        QueryItem("q", q), QueryItem("conversation", conversation), QueryItem("forum", forum),
        QueryItem("author", author), QueryItem("mention", mention), QueryItem("hashtag", hashtag),
        QueryItem("annotation", annotation), QueryItem("action", action), QueryItem("location", location),
        QueryItem("near", near), QueryItem("within", within), QueryItem("has", has), QueryItem("order", order),
        QueryItem("limit", limit), QueryItem("next", next),
      ] + QueryItem.between(after: after, before: before)
        + QueryItem.between(afterTime: afterTime, beforeTime: beforeTime))
  }
}

extension Request where Answer == Page<Resource<MessageReceipt>> {
  /// `GET /messages/{id}/receipts`
  public static func receipts(of message: ID<Message>) -> Request {
    Request(.get, "/messages/{id}/receipts", [message.description])
  }
}

extension Request where Answer == Resource<MadeTopic> {
  /// `POST /messages/{id}/topic`
  public static func makeTopic(of message: ID<Message>, title: String) -> Request {
    Request(
      .post, "/messages/{id}/topic", [message.description], body: .object { json in json.field("title", title) })
  }
}

extension RequestBody {
  /// What is said, whoever reads the answer.
  static func message(
    _ text: String, replyTo: ID<Message>?, attachments: [ID<File>]?, annotations: [Draft.Annotation]?,
    isMachineOnly: Bool?, sentAt: Timestamp?, catchUpAfter: ID<Message>?, clientID: String?
  ) -> RequestBody {
    .object { json in
      json.given("client_id", clientID)
      json.field("text", text)
      json.given("sent_at", sentAt)
      json.given("reply_to", replyTo)
      json.given("attachments", attachments)
      json.given("annotations", annotations)
      json.given("machine_only", isMachineOnly)
      json.given("catch_up_after", catchUpAfter)
    }
  }
}
