public import ParleyJSON
public import ParleyModel

// The place itself, for everyone and for those who keep it.

extension Request where Answer == Resource<Statistics> {
  /// `GET /statistics`
  public static func statistics() -> Request {
    Request(.get, "/statistics")
  }
}

extension Request where Answer == Resource<StoredBackup> {
  /// `POST /backups`
  public static func makeBackup() -> Request {
    Request(.post, "/backups")
  }
}

extension Request where Answer == Resource<PlaceSettings> {
  /// `GET /settings`
  public static func settings() -> Request {
    Request(.get, "/settings")
  }

  /// `PATCH /settings`
  public static func changeSettings(_ change: PlaceSettingsChange) -> Request {
    Request(.patch, "/settings", body: change.body)
  }
}

extension Request where Answer == Page<Resource<StoredBackup>> {
  /// `GET /backups`
  public static func backups(limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/backups", query: [QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Page<Resource<AuditLine>> {
  /// `GET /audit`
  public static func audit(
    actor: String? = nil, subject: String? = nil, kind: String? = nil, forum: ID<Forum>? = nil,
    afterTime: Timestamp? = nil, beforeTime: Timestamp? = nil, limit: Int? = nil, next: String? = nil
  ) -> Request {
    Request(
      .get, "/audit",
      query: [
        QueryItem("actor", actor), QueryItem("subject", subject), QueryItem("kind", kind), QueryItem("forum", forum),
        QueryItem("after_time", afterTime), QueryItem("before_time", beforeTime), QueryItem("limit", limit),
        QueryItem("next", next),
      ])
  }
}

extension Request where Answer == Reply {
  /// `GET /icon`
  public static func placeIcon() -> Request {
    Request(.get, "/icon")
  }
}

extension Request where Answer == Resource<PlaceDescription> {
  /// `GET /server`
  public static func server() -> Request {
    Request(.get, "/server")
  }
}

extension Request where Answer == Resource<SeenJob> {
  /// `GET /jobs/{id}`
  public static func job(_ job: ID<Job>) -> Request {
    Request(.get, "/jobs/{id}", [job.description])
  }
}
