import ParleyJSON
public import ParleyModel

// Live events, sync and snapshots.

extension Request where Response == Void {
  /// `GET /realtime`
  public static func openRealtime(topics: [LiveTopic]? = nil, after: String? = nil) -> Request {
    Request(.get, "/realtime", query: [QueryItem("topics", topics?.list), QueryItem("after", after)])
  }
}

extension [LiveTopic] {
  fileprivate var list: String { map(\.description).joined(separator: ",") }
}

extension Request where Response == RawResponse {
  /// `GET /events`
  public static func streamEvents(topics: [LiveTopic], after: String? = nil) -> Request {
    Request(.get, "/events", query: [QueryItem("topics", topics.list), QueryItem("after", after)])
  }
}

extension Request where Response == Resource<EventPage> {
  /// `GET /sync`
  public static func sync(topics: [LiveTopic], after: String? = nil, wait: Int? = nil) -> Request {
    Request(
      .get, "/sync", query: [QueryItem("topics", topics.list), QueryItem("after", after), QueryItem("wait", wait)])
  }
}

extension Request where Response == Resource<StreamEventPage> {
  /// `GET /streams/{stream}/events`
  public static func listStreamEvents(
    of stream: String, afterOffset: Int? = nil, limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/streams/{stream}/events", [stream],
      query: [
        QueryItem("after_offset", afterOffset), QueryItem("limit", limit), QueryItem("next", next),
        QueryItem("previous", previous),
      ])
  }
}

extension Request where Response == Resource<Snapshot> {
  /// `GET /snapshot`
  public static func getSnapshot() -> Request {
    Request(.get, "/snapshot")
  }
}
