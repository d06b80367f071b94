import ParleyJSON
public import ParleyModel

// Following along, and what waits.

extension Request where Answer == Void {
  /// `GET /realtime`
  public static func realtime(topics: String? = nil, after: String? = nil) -> Request {
    Request(.get, "/realtime", query: [QueryItem("topics", topics), QueryItem("after", after)])
  }
}

extension Request where Answer == Reply {
  /// `GET /events`
  public static func events(topics: String, after: String? = nil) -> Request {
    Request(.get, "/events", query: [QueryItem("topics", topics), QueryItem("after", after)])
  }
}

extension Request where Answer == Resource<EventPage> {
  /// `GET /sync`
  public static func sync(topics: String, after: String? = nil, wait: Int? = nil) -> Request {
    Request(.get, "/sync", query: [QueryItem("topics", topics), QueryItem("after", after), QueryItem("wait", wait)])
  }
}

extension Request where Answer == Resource<WaitingInbox> {
  /// `PUT /inbox/read`
  public static func markInboxRead(upTo entry: ID<InboxEntry>) -> Request {
    Request(.put, "/inbox/read", body: .object { json in json.field("up_to", entry) })
  }
}

extension Request where Answer == Resource<StreamPage> {
  /// `GET /streams/{stream}/events`
  public static func events(of stream: String, afterOffset: Int? = nil, limit: Int? = nil) -> Request {
    Request(
      .get, "/streams/{stream}/events", [stream],
      query: [QueryItem("after_offset", afterOffset), QueryItem("limit", limit)])
  }
}

extension Request where Answer == Resource<Snapshot> {
  /// `GET /snapshot`
  public static func snapshot() -> Request {
    Request(.get, "/snapshot")
  }
}

extension Request where Answer == Resource<Inbox> {
  /// `GET /inbox`
  public static func inbox(
    kind: String? = nil, unread: Bool? = nil, limit: Int? = nil, next: String? = nil, html: Bool? = nil
  ) -> Request {
    Request(
      .get, "/inbox",
      query: [
        QueryItem("kind", kind), QueryItem("unread", unread), QueryItem("limit", limit), QueryItem("next", next),
        QueryItem("html", html),
      ])
  }
}

extension Request where Answer == Page<Resource<UnreadPlace>> {
  /// `GET /unread`
  public static func unread(limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/unread", query: [QueryItem("limit", limit), QueryItem("next", next)])
  }
}
