import ParleyJSON
public import ParleyModel

// Forums, their members and topics.

extension Request where Response == Page<Resource<ForumView>> {
  /// `GET /forums`
  public static func listForums(
    query: String? = nil, sharedWith user: UserReference? = nil, limit: Int? = nil, next: String? = nil,
    previous: String? = nil
  ) -> Request {
    Request(
      .get, "/forums",
      query: [
        QueryItem("query", query), QueryItem("shared_with", user), QueryItem("limit", limit), QueryItem("next", next),
        QueryItem("previous", previous),
      ])
  }
}

extension Request where Response == Resource<ForumView> {
  /// `POST /forums`
  public static func createForum(_ draft: ForumDraft) -> Request {
    Request(.post, "/forums", body: .value(draft)).withClientID(draft.clientID)
  }

  /// `POST /forums`: a forum of which the other fields have defaults.
  public static func createForum(title: String, visibility: Visibility? = nil, clientID: String? = nil) -> Request {
    createForum(ForumDraft(title: title, visibility: visibility, clientID: clientID))
  }

  /// `GET /forums/{id}`
  public static func getForum(_ forum: ID<Forum>) -> Request {
    Request(.get, "/forums/{id}", [forum.description])
  }

  /// `PATCH /forums/{id}`
  public static func updateForum(_ forum: ID<Forum>, _ change: ForumChange) -> Request {
    Request(.patch, "/forums/{id}", [forum.description], body: .value(change))
  }
}

extension Request where Response == Resource<StartedJob> {
  /// `DELETE /forums/{id}`
  public static func deleteForum(_ forum: ID<Forum>) -> Request {
    Request(.delete, "/forums/{id}", [forum.description])
  }
}

extension Request where Response == Page<Resource<ForumMember>> {
  /// `GET /forums/{id}/members`
  public static func listForumMembers(
    of forum: ID<Forum>, limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/forums/{id}/members", [forum.description],
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Resource<ForumMember> {
  /// `PUT /forums/{id}/members/{user}`
  public static func setForumMember(
    of forum: ID<Forum>, to user: UserReference, role: ForumRole? = nil
  ) -> Request {
    Request(
      .put, "/forums/{id}/members/{user}", [forum.description, user.description],
      body: .object { json in json.optional("role", role) })
  }
}

extension Request where Response == Void {
  /// `DELETE /forums/{id}/members/{user}`
  public static func removeForumMember(of forum: ID<Forum>, user: UserReference) -> Request {
    Request(.delete, "/forums/{id}/members/{user}", [forum.description, user.description])
  }
}

extension Request where Response == RawResponse {
  /// `GET /forums/{id}/icon`
  public static func getForumIcon(of forum: ID<Forum>) -> Request {
    Request(.get, "/forums/{id}/icon", [forum.description])
  }
}

extension Request where Response == Page<Resource<Topic>> {
  /// `GET /forums/{id}/conversations`
  ///
  /// - Parameters:
  ///   - filter: `new`, `unread`, `mine`, `solved` or `unsolved`.
  ///   - tag: a hashtag of the first message.
  ///   - query: a part of the title.
  public static func listTopics(
    in forum: ID<Forum>, filter: String? = nil, tag: String? = nil, query: String? = nil, limit: Int? = nil,
    next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/forums/{id}/conversations", [forum.description],
      query: [
        QueryItem("filter", filter), QueryItem("tag", tag), QueryItem("query", query), QueryItem("limit", limit),
        QueryItem("next", next), QueryItem("previous", previous),
      ])
  }
}

extension Request where Response == Page<Resource<ForumTag>> {
  /// `GET /forums/{id}/tags`
  public static func listForumTags(of forum: ID<Forum>) -> Request {
    Request(.get, "/forums/{id}/tags", [forum.description])
  }
}

extension Request where Response == Resource<Topic> {
  /// `POST /forums/{id}/conversations`
  ///
  /// - Parameters:
  ///   - text: the text of the first message.
  ///   - attachments: the files of the first message.
  ///   - descriptions: of its pictures, in the order of the attachments.
  public static func createTopic(
    in forum: ID<Forum>, title: String, text: String? = nil, attachments: [ID<File>] = [], descriptions: [String] = [],
    poll: PollDraft? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("title", title)
      json.optional("text", text)
      if !attachments.isEmpty { json.field("attachments", attachments) }
      if !descriptions.isEmpty { json.field("descriptions", descriptions) }
      json.optional("poll", poll)
      json.optional("client_id", clientID)
    }
    return Request(.post, "/forums/{id}/conversations", [forum.description], body: body).withClientID(clientID)
  }
}

extension Request where Response == Resource<SetLevel> {
  /// `PUT /forums/{id}/level`
  ///
  /// - Parameter level: nil for the default.
  public static func setForumLevel(of forum: ID<Forum>, to level: Level?) -> Request {
    Request(
      .put, "/forums/{id}/level", [forum.description], body: .object { json in json.field("level", level?.rawValue) })
  }

  /// `DELETE /forums/{id}/level`
  public static func resetForumLevel(of forum: ID<Forum>) -> Request {
    Request(.delete, "/forums/{id}/level", [forum.description])
  }
}
