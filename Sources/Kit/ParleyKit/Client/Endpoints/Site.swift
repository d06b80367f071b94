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

  /// `DELETE /emoji/{id}`
  public static func deleteEmoji(_ emoji: ID<CustomEmoji>) -> Request {
    Request(.delete, "/emoji/{id}", [emoji.description])
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

extension Request where Response == Resource<MailTest> {
  /// `POST /settings/mail-test`
  public static func sendTestMail(to address: String) -> Request {
    Request(.post, "/settings/mail-test", body: .object { json in json.field("address", address) })
  }
}

extension Request where Response == Resource<CustomEmoji> {
  /// `POST /emoji`
  public static func createEmoji(_ name: String, file: ID<File>, clientID: String? = nil) -> Request {
    let body = RequestBody.object { json in
      json.field("name", name)
      json.field("file", file)
      json.optional("client_id", clientID)
    }
    return Request(.post, "/emoji", body: body).withClientID(clientID)
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

  /// `GET /emoji/{id}/picture`
  public static func getEmojiPicture(of emoji: ID<CustomEmoji>) -> Request {
    Request(.get, "/emoji/{id}/picture", [emoji.description])
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
