public import JSON
public import Model

// Forums, their members and their topics.

extension Request where Answer == Page<Resource<SeenForum>> {
  /// `GET /forums`
  public static func forums(query: String? = nil, limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/forums", query: [QueryItem("query", query), QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Resource<SeenForum> {
  /// `POST /forums`
  public static func createForum(_ members: (inout JSONWriter) -> Void) -> Request {
    Request(.post, "/forums", body: .object(members))
  }

  /// `GET /forums/{id}`
  public static func forum(_ forum: ID<Forum>) -> Request {
    Request(.get, "/forums/{id}", [forum.description])
  }

  /// `PATCH /forums/{id}`
  public static func changeForum(_ forum: ID<Forum>, _ members: (inout JSONWriter) -> Void) -> Request {
    Request(.patch, "/forums/{id}", [forum.description], body: .object(members))
  }
}

extension Request where Answer == Resource<BegunJob> {
  /// `DELETE /forums/{id}`
  public static func deleteForum(_ forum: ID<Forum>) -> Request {
    Request(.delete, "/forums/{id}", [forum.description])
  }
}

extension Request where Answer == Page<Resource<ForumMember>> {
  /// `GET /forums/{id}/members`
  public static func members(of forum: ID<Forum>, limit: Int? = nil, next: String? = nil) -> Request {
    Request(
      .get, "/forums/{id}/members", [forum.description], query: [QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Resource<ForumMember> {
  /// `PUT /forums/{id}/members/{user}`
  public static func setMember(
    of forum: ID<Forum>, to person: AccountReference, _ members: (inout JSONWriter) -> Void = { _ in }
  ) -> Request {
    Request(.put, "/forums/{id}/members/{user}", [forum.description, person.text], body: .object(members))
  }
}

extension Request where Answer == Void {
  /// `DELETE /forums/{id}/members/{user}`
  public static func removeMember(of forum: ID<Forum>, person: AccountReference) -> Request {
    Request(.delete, "/forums/{id}/members/{user}", [forum.description, person.text])
  }
}

extension Request where Answer == Reply {
  /// `GET /forums/{id}/icon`
  public static func forumIcon(of forum: ID<Forum>) -> Request {
    Request(.get, "/forums/{id}/icon", [forum.description])
  }
}

extension Request where Answer == Page<Resource<Topic>> {
  /// `GET /forums/{id}/conversations`
  public static func topics(in forum: ID<Forum>, limit: Int? = nil, next: String? = nil) -> Request {
    Request(
      .get, "/forums/{id}/conversations", [forum.description],
      query: [QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Resource<Topic> {
  /// `POST /forums/{id}/conversations`
  public static func createTopic(in forum: ID<Forum>, _ members: (inout JSONWriter) -> Void) -> Request {
    Request(.post, "/forums/{id}/conversations", [forum.description], body: .object(members))
  }
}

extension Request where Answer == Resource<SetLevel> {
  /// `PUT /forums/{id}/level`
  public static func setForumLevel(of forum: ID<Forum>, _ members: (inout JSONWriter) -> Void) -> Request {
    Request(.put, "/forums/{id}/level", [forum.description], body: .object(members))
  }

  /// `DELETE /forums/{id}/level`
  public static func clearForumLevel(of forum: ID<Forum>) -> Request {
    Request(.delete, "/forums/{id}/level", [forum.description])
  }
}
