public import ParleyJSON

/// Background job, for users that may see its progress.
public struct JobView: Sendable, Hashable {
  /// Progress of a job.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The job goes on, or has ended.
    case running, finished
    /// Aborted by an error.
    case failed
  }

  /// Kinds of work. There are others, and a newer server may have more.
  public struct Kind: OpenWord {
    /// The word in JSON.
    public let rawValue: String

    /// Any kind.
    @inlinable public init(rawValue: String) { self.rawValue = rawValue }

    /// Completes a user's deletion.
    public static let departure: Kind = "departure"
    /// Erases the messages of a deleted forum.
    public static let forumErasure: Kind = "forum.erasure"
    /// Removes a forum from users that lost read access.
    public static let forumLosses: Kind = "forum.losses"
    /// Copies a long branch to a topic.
    public static let topicBranch: Kind = "topic.branch"
  }

  /// The id of the job.
  public var id: ID<Job>
  /// The work of the job.
  public var kind: Kind
  /// The progress of the job, without its fraction.
  public var state: State
  /// From 0 to 1.
  public var progress: Double
  /// Error code of a failed job.
  public var error: String?
  /// The creation of the job in milliseconds since 1970.
  public var startedAt: Int64
  /// The end of the job in milliseconds since 1970, successful or not; nil while it runs.
  public var finishedAt: Int64?

  /// A job, as the server answers.
  public init(
    id: ID<Job>, kind: Kind, state: State, progress: Double, error: String? = nil, startedAt: Int64,
    finishedAt: Int64? = nil
  ) {
    self.id = id
    self.kind = kind
    self.state = state
    self.progress = progress
    self.error = error
    self.startedAt = startedAt
    self.finishedAt = finishedAt
  }
}

extension JobView: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("kind", kind.rawValue)
      json.field("state", state.rawValue)
      json.field("progress", progress)
      json.field("error", error)
      json.field("created_at", Timestamp(startedAt))
      json.field("finished_at", finishedAt.map { Timestamp($0) })
    }
  }
}
