public import ParleyModel

// Groups of users.

extension Request where Response == Resource<UserGroup> {
  /// `POST /groups`
  public static func createUserGroup(_ draft: UserGroupDraft) -> Request {
    Request(.post, "/groups", body: .value(draft)).withClientID(draft.clientID)
  }

  /// `GET /groups/{id}`
  public static func getUserGroup(_ group: ID<UserGroup>) -> Request {
    Request(.get, "/groups/{id}", [group.description])
  }

  /// `PATCH /groups/{id}`
  public static func updateUserGroup(_ group: ID<UserGroup>, _ change: UserGroupChange) -> Request {
    Request(.patch, "/groups/{id}", [group.description], body: .value(change))
  }
}

extension Request where Response == Page<Resource<UserGroup>> {
  /// `GET /groups`
  public static func listUserGroups(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/groups", query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Page<Resource<ForumAccess>> {
  /// `GET /forum-access`
  public static func listForumAccess(
    of viewer: ForumViewer, limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/forum-access",
      query: [
        QueryItem("viewer", viewer), QueryItem("limit", limit), QueryItem("next", next),
        QueryItem("previous", previous),
      ])
  }
}

extension Request where Response == Page<Resource<User>> {
  /// `GET /groups/{id}/members`
  public static func listUserGroupMembers(
    of group: ID<UserGroup>, limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/groups/{id}/members", [group.description],
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Resource<User> {
  /// `PUT /groups/{id}/members/{user}`
  public static func addUserGroupMember(_ user: UserReference, to group: ID<UserGroup>) -> Request {
    Request(.put, "/groups/{id}/members/{user}", [group.description, user.description])
  }
}

extension Request where Response == Void {
  /// `DELETE /groups/{id}/members/{user}`
  public static func removeUserGroupMember(_ user: UserReference, of group: ID<UserGroup>) -> Request {
    Request(.delete, "/groups/{id}/members/{user}", [group.description, user.description])
  }

  /// `DELETE /groups/{id}`
  public static func deleteUserGroup(_ group: ID<UserGroup>) -> Request {
    Request(.delete, "/groups/{id}", [group.description])
  }
}
