public import ParleyJSON
public import ParleyModel

// Conversations and the caller's participation.

extension Request where Response == Page<Resource<OwnConversation>> {
  /// `GET /conversations`
  public static func listConversations(
    kind: Conversation.Kind? = nil, type: String? = nil, limit: Int? = nil, next: String? = nil, previous: String? = nil
  )
    -> Request
  {
    Request(
      .get, "/conversations",
      query: [
        QueryItem("kind", kind), QueryItem("type", type), QueryItem("limit", limit), QueryItem("next", next),
        QueryItem("previous", previous),
      ])
  }
}

extension Request where Response == Resource<OwnConversation> {
  /// `POST /conversations`
  ///
  /// - Parameters:
  ///   - kind: not `room` or `topic`, which belong to forums.
  ///   - users: the participants besides the caller.
  ///   - writers: all participants or the listed ones.
  ///   - isDistinct: returns an existing conversation with the same participants.
  public static func createConversation(
    _ kind: Conversation.Kind, with users: [ConversationDraft.Invited] = [], title: String? = nil,
    type: String? = nil, annotations: [Draft.Annotation]? = nil, readers: Conversation.Openness? = nil,
    writers: Conversation.Openness? = nil, isHistoryVisible: Bool? = nil, isDistinct: Bool? = nil,
    clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("kind", kind.rawValue)
      if !users.isEmpty {
        json.array("participants") { json in
          for one in users { one.write(to: &json) }
        }
      }
      json.optional("title", title)
      json.optional("type", type)
      json.optional("annotations", annotations)
      json.optional("readers", readers)
      json.optional("writers", writers)
      json.optional("history_visible", isHistoryVisible)
      json.optional("distinct", isDistinct)
      json.optional("client_id", clientID)
    }
    return Request(.post, "/conversations", body: body).withClientID(clientID)
  }

  /// `PUT /conversations/{id}/request`
  public static func acceptRequest(for conversation: ID<Conversation>) -> Request {
    Request(.put, "/conversations/{id}/request", [conversation.description])
  }
}

extension Request where Response == Resource<ChangedConversation> {
  /// `PATCH /conversations/{id}`, except topics.
  public static func updateConversation(_ conversation: ID<Conversation>, _ change: ConversationChange) -> Request {
    patch(conversation, change)
  }

  /// `PATCH /conversations/{id}` for topics.
  public static func updateConversation(_ topic: ID<Conversation>, _ change: TopicChange) -> Request {
    patch(topic, change)
  }

  private static func patch(_ conversation: ID<Conversation>, _ change: some JSONWritable) -> Request {
    Request(.patch, "/conversations/{id}", [conversation.description], body: .value(change))
  }
}

extension Request where Response == Resource<ConversationDigest> {
  /// `GET /conversations/{id}/digest`
  public static func getDigest(
    of conversation: ID<Conversation>, fromSeq: Int? = nil, toSeq: Int? = nil, parts: Int? = nil
  ) -> Request {
    let isReversed = if let fromSeq, let toSeq { toSeq < fromSeq } else { false }
    return Request(
      .get, "/conversations/{id}/digest", [conversation.description],
      query: [
        QueryItem("from_seq", isReversed ? toSeq : fromSeq), QueryItem("to_seq", isReversed ? fromSeq : toSeq),
        QueryItem("parts", parts),
      ])
  }
}

extension Request where Response == Resource<Checkpoint> {
  /// `GET /conversations/{id}/checkpoint`
  public static func getCheckpoint(of conversation: ID<Conversation>) -> Request {
    Request(.get, "/conversations/{id}/checkpoint", [conversation.description])
  }
}

extension Request where Response == Void {
  /// `DELETE /conversations/{id}`
  public static func deleteConversation(_ conversation: ID<Conversation>) -> Request {
    Request(.delete, "/conversations/{id}", [conversation.description])
  }

  /// `DELETE /conversations/{id}/participants/{user}`
  public static func removeParticipant(of conversation: ID<Conversation>, user: UserReference) -> Request {
    Request(.delete, "/conversations/{id}/participants/{user}", [conversation.description, user.description])
  }

  /// `DELETE /conversations/{id}/request`
  public static func declineRequest(for conversation: ID<Conversation>) -> Request {
    Request(.delete, "/conversations/{id}/request", [conversation.description])
  }

  /// `POST /conversations/{id}/typing`
  public static func sendTyping(in conversation: ID<Conversation>) -> Request {
    Request(.post, "/conversations/{id}/typing", [conversation.description])
  }
}

extension Request where Response == Page<Resource<Participant>> {
  /// `GET /conversations/{id}/participants`
  public static func listParticipants(
    of conversation: ID<Conversation>, limit: Int? = nil, next: String? = nil, previous: String? = nil
  )
    -> Request
  {
    Request(
      .get, "/conversations/{id}/participants", [conversation.description],
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Resource<Participant> {
  /// `PUT /conversations/{id}/participants/{user}`
  public static func setParticipant(
    of conversation: ID<Conversation>, to user: UserReference, role: ParticipantRole? = nil
  ) -> Request {
    Request(
      .put, "/conversations/{id}/participants/{user}", [conversation.description, user.description],
      body: .object { json in json.optional("role", role) })
  }
}

extension Request where Response == Resource<Conversation> {
  /// `GET /conversations/{id}`
  public static func getConversation(_ conversation: ID<Conversation>) -> Request {
    Request(.get, "/conversations/{id}", [conversation.description])
  }
}

extension Request where Response == Resource<ReadConversation> {
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

extension Request where Response == Resource<SetLevel> {
  /// `PUT /conversations/{id}/level`
  ///
  /// - Parameter level: nil for the default.
  public static func setConversationLevel(of conversation: ID<Conversation>, to level: Level?) -> Request {
    Request(
      .put, "/conversations/{id}/level", [conversation.description],
      body: .object { json in json.field("level", level?.rawValue) })
  }

  /// `DELETE /conversations/{id}/level`
  public static func resetConversationLevel(of conversation: ID<Conversation>) -> Request {
    Request(.delete, "/conversations/{id}/level", [conversation.description])
  }
}

extension Request where Response == Resource<Later> {
  /// `PUT /conversations/{id}/later`
  public static func setLater(_ conversation: ID<Conversation>, until: Timestamp) -> Request {
    Request(
      .put, "/conversations/{id}/later", [conversation.description],
      body: .object { json in json.field("until", until) })
  }
}

extension Request where Response == Void {
  /// `DELETE /conversations/{id}/later`
  public static func endLater(_ conversation: ID<Conversation>) -> Request {
    Request(.delete, "/conversations/{id}/later", [conversation.description])
  }
}

extension ConversationDraft.Invited {
  /// A participant by id.
  public static func id(_ id: ID<User>, as role: ParticipantRole = .member) -> Self { Self(.id(id), as: role) }
  /// A participant by name.
  public static func name(_ name: String, as role: ParticipantRole = .member) -> Self { Self(.name(name), as: role) }

  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("user_id", user)
      json.field("role", role.rawValue)
    }
  }
}
