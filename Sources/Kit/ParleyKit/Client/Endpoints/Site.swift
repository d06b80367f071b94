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

  /// `GET /backups/{id}`
  public static func getBackup(_ backup: ID<StoredBackup>) -> Request {
    Request(.get, "/backups/{id}", [backup.description])
  }
}

extension Request where Response == Void {
  /// `DELETE /backups/{id}`
  public static func deleteBackup(_ backup: ID<StoredBackup>) -> Request {
    Request(.delete, "/backups/{id}", [backup.description])
  }
}

extension Request where Response == Resource<SiteSettings> {
  /// `GET /settings`
  public static func getSettings() -> Request {
    Request(.get, "/settings")
  }

  /// `PATCH /settings`
  public static func updateSettings(_ change: SiteSettingsChange) -> Request {
    Request(.patch, "/settings", body: .value(change))
  }
}

extension Request where Response == Page<Resource<StoredBackup>> {
  /// `GET /backups`
  public static func listBackups(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/backups", query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == RawResponse {
  /// `GET /backups/{id}/content`: a tar file. Ask for ranges of a large one.
  public static func getBackupContent(of backup: ID<StoredBackup>) -> Request {
    Request(.get, "/backups/{id}/content", [backup.description])
  }

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
