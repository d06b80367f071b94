public import ParleyModel

// The site: settings, statistics, backups, jobs.

extension Request where Response == Resource<Statistics> {
  /// `GET /statistics`
  public static func getStatistics() -> Request {
    Request(.get, "/statistics")
  }
}

extension Request where Response == Resource<StoredBackup> {
  /// `POST /backups`
  public static func createBackup() -> Request {
    Request(.post, "/backups")
  }
}

extension Request where Response == Resource<SiteSettings> {
  /// `GET /settings`
  public static func getSettings() -> Request {
    Request(.get, "/settings")
  }

  /// `PATCH /settings`
  public static func updateSettings(_ change: SiteSettingsChange) -> Request {
    Request(.patch, "/settings", body: change.body)
  }
}

extension Request where Response == Page<Resource<StoredBackup>> {
  /// `GET /backups`
  public static func listBackups(limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/backups", query: [QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Response == RawResponse {
  /// `GET /icon`
  public static func getSiteIcon() -> Request {
    Request(.get, "/icon")
  }
}

extension Request where Response == Resource<ServerInfo> {
  /// `GET /server`
  public static func getServer() -> Request {
    Request(.get, "/server")
  }
}

extension Request where Response == Resource<JobView> {
  /// `GET /jobs/{id}`
  public static func getJob(_ job: ID<Job>) -> Request {
    Request(.get, "/jobs/{id}", [job.description])
  }
}
