import ParleyJSON
public import ParleyModel

// The inbox and unread counts.

extension Request where Response == Resource<Inbox> {
  /// `GET /inbox`
  public static func listNotifications(
    kind: Notification.Kind? = nil, unread: Bool? = nil, limit: Int? = nil, next: String? = nil,
    previous: String? = nil,
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

extension Request where Response == Resource<NotificationSettings> {
  /// `GET /me/notifications`
  public static func getNotificationSettings() -> Request { Request(.get, "/me/notifications") }

  /// `PATCH /me/notifications`
  public static func updateNotificationSettings(_ change: Patch<NotificationSettings>) -> Request {
    Request(.patch, "/me/notifications", body: .object { json in change.writeMembers(to: &json) })
  }
}

extension Request where Response == Resource<PushSubscription> {
  /// `POST /me/push-subscriptions`
  ///
  /// A repeated request returns the same subscription.
  public static func createPushSubscription(_ draft: PushSubscriptionDraft) -> Request {
    Request(.post, "/me/push-subscriptions", body: .value(draft))
  }
}

extension Request where Response == Page<Resource<PushSubscription>> {
  /// `GET /me/push-subscriptions`
  public static func listPushSubscriptions(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/me/push-subscriptions",
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Void {
  /// `DELETE /me/push-subscriptions/{id}`
  public static func deletePushSubscription(_ subscription: ID<PushSubscription>) -> Request {
    Request(.delete, "/me/push-subscriptions/{id}", [subscription.description])
  }
}

extension Request where Response == Resource<PushTest> {
  /// `POST /me/push-subscriptions/{id}/test`
  public static func testPushSubscription(_ subscription: ID<PushSubscription>) -> Request {
    Request(.post, "/me/push-subscriptions/{id}/test", [subscription.description])
  }
}

extension Request where Response == Page<Resource<UnreadItem>> {
  /// `GET /unread`
  public static func getUnread(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/unread", query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}
