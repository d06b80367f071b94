public import ParleyJSON

/// Backup requested through the API, in the data folder's `backups`.
public struct StoredBackup: Sendable, Hashable {
  /// Progress of a backup, and whether its file exists.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The backup is being written.
    case running
    /// Verified by reading it again before the file was renamed to its final name.
    case done
    /// The backup was not completed.
    case failed
    /// Completed, but the file no longer exists.
    case gone
  }

  /// The id of the backup.
  public var id: ID<StoredBackup>
  /// File name; of a scheduled backup its time.
  public var name: String
  /// The member of the staff that requested the backup; nil for a scheduled one.
  public var createdBy: ID<User>?
  /// The time of the request in milliseconds since 1970.
  public var createdAt: Int64
  /// The end of the backup in milliseconds since 1970, successful or not; nil while it runs.
  public var finishedAt: Int64?
  /// The progress of the backup.
  public var state: State
  /// In bytes.
  public var size: Int?
  /// Files referenced by the database that could not be copied.
  public var missingCount: Int

  /// A backup, as the server lists it.
  public init(
    id: ID<StoredBackup>, name: String, createdBy: ID<User>?, createdAt: Int64, finishedAt: Int64?, state: State,
    size: Int?, missingCount: Int
  ) {
    self.id = id
    self.name = name
    self.createdBy = createdBy
    self.createdAt = createdAt
    self.finishedAt = finishedAt
    self.state = state
    self.size = size
    self.missingCount = missingCount
  }

  /// Whether the server made the backup at its interval.
  public var isScheduled: Bool { createdBy == nil }
}

extension StoredBackup: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("name", name)
      json.field("created_by", createdBy)
      json.field("scheduled", isScheduled)
      json.field("created_at", Timestamp(createdAt))
      json.field("finished_at", finishedAt.map { Timestamp($0) })
      json.field("state", state.rawValue)
      json.field("size", size)
      json.field("verified", state == .done)
      json.field("missing_files", missingCount)
    }
  }
}
