public import ParleyJSON

/// An export of a user's own data: an archive in the data folder's `exports`, for a day.
public struct DataExport: Sendable, Hashable {
  /// Progress of an export.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// Also while others are written first.
    case running
    /// The archive can be downloaded.
    case done
    /// The archive was not written.
    case failed
  }

  /// The id of the export.
  public var id: ID<DataExport>
  /// The progress of the export.
  public var state: State
  /// The time of the request in milliseconds since 1970.
  public var createdAt: Int64
  /// The end of the export in milliseconds since 1970, successful or not; nil while it runs.
  public var finishedAt: Int64?
  /// The time at which the archive is deleted.
  public var expiresAt: Int64?
  /// In bytes.
  public var size: Int?
  /// Files whose content is missing on the server.
  public var missingCount: Int
  /// Error code of a failed export.
  public var error: String?

  /// An export, as the server answers; by default without a result.
  public init(
    id: ID<DataExport>, state: State, createdAt: Int64, finishedAt: Int64? = nil, expiresAt: Int64? = nil,
    size: Int? = nil, missingCount: Int = 0, error: String? = nil
  ) {
    self.id = id
    self.state = state
    self.createdAt = createdAt
    self.finishedAt = finishedAt
    self.expiresAt = expiresAt
    self.size = size
    self.missingCount = missingCount
    self.error = error
  }
}

extension DataExport: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("state", state.rawValue)
      json.field("created_at", Timestamp(createdAt))
      json.field("finished_at", finishedAt.map { Timestamp($0) })
      json.field("expires_at", expiresAt.map { Timestamp($0) })
      json.field("size", size)
      json.field("missing_files", missingCount)
      json.field("error", error)
    }
  }
}
