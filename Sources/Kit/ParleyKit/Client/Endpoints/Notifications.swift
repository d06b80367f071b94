import ParleyJSON
public import ParleyModel

// The inbox and unread counts.

extension Request where Response == Resource<Inbox> {
  /// `GET /inbox`
  public static func listNotifications(
    kind: String? = nil, unread: Bool? = nil, limit: Int? = nil, next: String? = nil, previous: String? = nil,
    html: Bool? = nil
  ) -> Request {
    Request(
      .get, "/inbox",
      query: [
        QueryItem("kind", kind), QueryItem("unread", unread), QueryItem("limit", limit), QueryItem("next", next),
        QueryItem("previous", previous),
        QueryItem("html", html),
      ])
  }
}

extension Request where Response == Resource<UnreadInbox> {
  /// `PUT /inbox/read`
  public static func markNotificationsRead(upTo entry: ID<Notification>) -> Request {
    Request(.put, "/inbox/read", body: .object { json in json.field("up_to", entry) })
  }
}

extension Request where Response == Void {
  /// `PUT /unread/read`
  ///
  /// - Parameter id: `up_to` of `GET /unread`.
  public static func markAllRead(upTo id: ID<Message>) -> Request {
    Request(.put, "/unread/read", body: .object { json in json.field("up_to", id) })
  }
}

extension Request where Response == Page<Resource<UnreadItem>> {
  /// `GET /unread`
  public static func getUnread(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/unread", query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}
