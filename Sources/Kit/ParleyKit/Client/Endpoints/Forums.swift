import ParleyJSON
public import ParleyModel

// Forums, their members and their topics.

extension Request where Answer == Page<Resource<SeenForum>> {
  /// `GET /forums`
  public static func forums(query: String? = nil, limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/forums", query: [QueryItem("query", query), QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Resource<SeenForum> {
  /// `POST /forums`
  public static func createForum(
    title: String, about: String? = nil, iconURL: String? = nil, icon: ID<File>? = nil,
    visibility: Visibility? = nil, write: ForumPolicy? = nil, startTopics: ForumPolicy? = nil,
    section: String? = nil, position: Int? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("title", title)
      json.given("description", about)
      json.given("icon_url", iconURL)
      json.given("icon_file", icon)
      json.given("visibility", visibility)
      json.given("write", write)
      json.given("start_topics", startTopics)
      json.given("section", section)
      json.given("position", position)
      json.given("client_id", clientID)
    }
    return Request(.post, "/forums", body: body).named(clientID)
  }

  /// `GET /forums/{id}`
  public static func forum(_ forum: ID<Forum>) -> Request {
    Request(.get, "/forums/{id}", [forum.description])
  }

  /// `PATCH /forums/{id}`
  public static func changeForum(_ forum: ID<Forum>, _ change: ForumChange) -> Request {
    Request(.patch, "/forums/{id}", [forum.description], body: change.body)
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
    of forum: ID<Forum>, to person: AccountReference, role: ForumRole? = nil
  ) -> Request {
    Request(
      .put, "/forums/{id}/members/{user}", [forum.description, person.description],
      body: .object { json in json.given("role", role) })
  }
}

extension Request where Answer == Void {
  /// `DELETE /forums/{id}/members/{user}`
  public static func removeMember(of forum: ID<Forum>, person: AccountReference) -> Request {
    Request(.delete, "/forums/{id}/members/{user}", [forum.description, person.description])
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
  ///
  /// - Parameter text: what is said first in it.
  public static func createTopic(
    in forum: ID<Forum>, title: String, text: String? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("title", title)
      json.given("text", text)
      json.given("client_id", clientID)
    }
    return Request(.post, "/forums/{id}/conversations", [forum.description], body: body).named(clientID)
  }
}

extension Request where Answer == Resource<SetLevel> {
  /// `PUT /forums/{id}/level`
  ///
  /// - Parameter level: nil for what is usual there.
  public static func setForumLevel(of forum: ID<Forum>, to level: Level?) -> Request {
    Request(
      .put, "/forums/{id}/level", [forum.description], body: .object { json in json.field("level", level?.rawValue) })
  }

  /// `DELETE /forums/{id}/level`
  public static func clearForumLevel(of forum: ID<Forum>) -> Request {
    Request(.delete, "/forums/{id}/level", [forum.description])
  }
}
