public import ParleyModel

// The read position of the timeline, and saved filters.

extension Request where Response == Resource<TimelinePosition> {
  /// `GET /timeline/read`
  ///
  /// - Parameters: as in `getTimeline`; they decide which later posts are counted.
  public static func getTimelinePosition(mentions: Bool? = nil, filter: String? = nil) -> Request {
    Request(.get, "/timeline/read", query: [QueryItem("mentions", mentions), QueryItem("filter", filter)])
  }

  /// `PUT /timeline/read`
  public static func markTimelineRead(upTo message: ID<Message>) -> Request {
    Request(.put, "/timeline/read", body: .object { $0.field("message_id", message) })
  }
}

extension Request where Response == Page<Resource<TimelineFilter>> {
  /// `GET /me/timeline-filters`
  public static func listTimelineFilters(
    limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/me/timeline-filters",
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Resource<TimelineFilter> {
  /// `PUT /me/timeline-filters/{name}`
  public static func setTimelineFilter(_ name: String, to filter: TimelineFilterDraft) -> Request {
    Request(.put, "/me/timeline-filters/{name}", [name], body: .value(filter))
  }
}

extension Request where Response == Void {
  /// `DELETE /me/timeline-filters/{name}`
  public static func deleteTimelineFilter(_ name: String) -> Request {
    Request(.delete, "/me/timeline-filters/{name}", [name])
  }

  /// `DELETE /me/timeline-filters`
  public static func deleteTimelineFilters() -> Request { Request(.delete, "/me/timeline-filters") }
}
