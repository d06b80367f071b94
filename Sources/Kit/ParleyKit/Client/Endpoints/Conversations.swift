import ParleyJSON
public import ParleyModel

// Conversations, and one’s own place in them.

extension Request where Answer == Page<Resource<OwnConversation>> {
  /// `GET /conversations`
  public static func conversations(kind: String? = nil, type: String? = nil, limit: Int? = nil, next: String? = nil)
    -> Request
  {
    Request(
      .get, "/conversations",
      query: [QueryItem("kind", kind), QueryItem("type", type), QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Resource<OwnConversation> {
  /// `POST /conversations`
  ///
  /// - Parameters:
  ///   - kind: no room and no topic, which are made in forums.
  ///   - people: who takes part, beside oneself.
  ///   - writers: the people in it, or those that are listed; not anyone.
  ///   - isDistinct: gives back the one that exists with the same people.
  public static func createConversation(
    _ kind: Conversation.Kind, with people: [ConversationDraft.Invited] = [], title: String? = nil,
    type: String? = nil, annotations: [Draft.Annotation]? = nil, readers: Conversation.Openness? = nil,
    writers: Conversation.Openness? = nil, isHistoryVisible: Bool? = nil, isDistinct: Bool? = nil,
    clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("kind", kind.rawValue)
      if !people.isEmpty {
        json.array("participants") { json in
          for one in people { one.write(to: &json) }
        }
      }
      json.given("title", title)
      json.given("type", type)
      json.given("annotations", annotations)
      json.given("readers", readers)
      json.given("writers", writers)
      json.given("history_visible", isHistoryVisible)
      json.given("distinct", isDistinct)
      json.given("client_id", clientID)
    }
    return Request(.post, "/conversations", body: body).named(clientID)
  }

  /// `PUT /conversations/{id}/request`
  public static func acceptRequest(for conversation: ID<Conversation>) -> Request {
    Request(.put, "/conversations/{id}/request", [conversation.description])
  }
}

extension Request where Answer == Resource<ChangedConversation> {
  /// `PATCH /conversations/{id}` of all but topics.
  public static func changeConversation(_ conversation: ID<Conversation>, _ change: ConversationChange) -> Request {
    patch(conversation, change.body)
  }

  /// `PATCH /conversations/{id}` of a topic.
  public static func changeTopic(_ topic: ID<Conversation>, _ change: TopicChange) -> Request {
    patch(topic, change.body)
  }

  private static func patch(_ conversation: ID<Conversation>, _ body: RequestBody) -> Request {
    Request(.patch, "/conversations/{id}", [conversation.description], body: body)
  }
}

extension Request where Answer == Resource<ConversationDigest> {
  /// `GET /conversations/{id}/digest`
  public static func digest(
    of conversation: ID<Conversation>, fromSeq: Int? = nil, toSeq: Int? = nil, parts: Int? = nil
  ) -> Request {
    let isTurned = if let fromSeq, let toSeq { toSeq < fromSeq } else { false }
    return Request(
      .get, "/conversations/{id}/digest", [conversation.description],
      query: [
        QueryItem("from_seq", isTurned ? toSeq : fromSeq), QueryItem("to_seq", isTurned ? fromSeq : toSeq),
        QueryItem("parts", parts),
      ])
  }
}

extension Request where Answer == Void {
  /// `DELETE /conversations/{id}`
  public static func deleteConversation(_ conversation: ID<Conversation>) -> Request {
    Request(.delete, "/conversations/{id}", [conversation.description])
  }

  /// `DELETE /conversations/{id}/participants/{user}`
  public static func removeParticipant(of conversation: ID<Conversation>, person: AccountReference) -> Request {
    Request(.delete, "/conversations/{id}/participants/{user}", [conversation.description, person.description])
  }

  /// `DELETE /conversations/{id}/request`
  public static func refuseRequest(for conversation: ID<Conversation>) -> Request {
    Request(.delete, "/conversations/{id}/request", [conversation.description])
  }

  /// `POST /conversations/{id}/typing`
  public static func typing(in conversation: ID<Conversation>) -> Request {
    Request(.post, "/conversations/{id}/typing", [conversation.description])
  }
}

extension Request where Answer == Page<Resource<Participant>> {
  /// `GET /conversations/{id}/participants`
  public static func participants(of conversation: ID<Conversation>, limit: Int? = nil, next: String? = nil) -> Request
  {
    Request(
      .get, "/conversations/{id}/participants", [conversation.description],
      query: [QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Resource<Participant> {
  /// `PUT /conversations/{id}/participants/{user}`
  public static func setParticipant(
    of conversation: ID<Conversation>, to person: AccountReference, role: ParticipantRole? = nil
  ) -> Request {
    Request(
      .put, "/conversations/{id}/participants/{user}", [conversation.description, person.description],
      body: .object { json in json.given("role", role) })
  }
}

extension Request where Answer == Resource<Conversation> {
  /// `GET /conversations/{id}`
  public static func conversation(_ conversation: ID<Conversation>) -> Request {
    Request(.get, "/conversations/{id}", [conversation.description])
  }
}

extension Request where Answer == Resource<MarkedConversation> {
  /// `PUT /conversations/{id}/read`
  public static func markRead(_ conversation: ID<Conversation>, upTo message: ID<Message>) -> Request {
    Request(
      .put, "/conversations/{id}/read", [conversation.description], body: .object { $0.field("message_id", message) })
  }

  /// `PUT /conversations/{id}/delivered`
  public static func markDelivered(_ conversation: ID<Conversation>, upTo message: ID<Message>) -> Request {
    Request(
      .put, "/conversations/{id}/delivered", [conversation.description],
      body: .object { $0.field("message_id", message) })
  }
}

extension Request where Answer == Resource<SetLevel> {
  /// `PUT /conversations/{id}/level`
  ///
  /// - Parameter level: nil for what is usual there.
  public static func setLevel(of conversation: ID<Conversation>, to level: Level?) -> Request {
    Request(
      .put, "/conversations/{id}/level", [conversation.description],
      body: .object { json in json.field("level", level?.rawValue) })
  }

  /// `DELETE /conversations/{id}/level`: what is usual there, as with a level of nil.
  public static func clearLevel(of conversation: ID<Conversation>) -> Request {
    Request(.delete, "/conversations/{id}/level", [conversation.description])
  }
}

extension ConversationDraft.Invited {
  public static func id(_ id: ID<Account>, as role: ParticipantRole = .member) -> Self { Self(.id(id), as: role) }
  public static func name(_ name: String, as role: ParticipantRole = .member) -> Self { Self(.name(name), as: role) }

  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("user_id", account)
      json.field("role", role.rawValue)
    }
  }
}
