// Stored jobs and their progress. `JobRunner` runs them.

public import ParleyJSON
public import ParleyModel
import ParleySQLite

/// A stored job.
public struct StoredJob: Sendable, Hashable {
  public let id: ID<Job>
  public let kind: String
  /// The id of its subject.
  public let subject: Int?
  public let startedBy: ID<User>?
  public let startedAt: Int64
  /// Its progress, as JSON of its kind.
  public let state: String
  public let finishedAt: Int64?
  /// The code of the refusal that ended it before it was done.
  public let error: String?

  /// The time for which a finished job can be read.
  static let keptFor: Int64 = 30 * 24 * 3_600_000
}

extension ReadTransaction {
  public func job(_ id: ID<Job>) throws(Refusal) -> StoredJob? {
    try run { connection in
      try connection.first(
        """
        select kind, subject, created_by, created_at, state, finished_at, error
        from job
        where id = $1
        """, id.number
      ) { row in
        StoredJob(
          id: id, kind: try row.text(0), subject: try row.optionalInt(1),
          startedBy: try row.optionalInt(2).map { ID($0) }, startedAt: Int64(try row.int(3)), state: try row.text(4),
          finishedAt: try row.optionalInt(5).map { Int64($0) }, error: try row.optionalText(6))
      }
    }
  }

  /// Returns the newest job of a kind on a subject; nil if there is none.
  public func job(_ kind: JobKind, about subject: Int) throws(Refusal) -> ID<Job>? {
    try run { connection in
      try connection.first(
        """
        select id
        from job
        where subject = $1 and kind = $2
        order by id desc
        limit 1
        """, subject, kind.name
      ) { row in ID(try row.int(0)) }
    }
  }

  /// The number of unfinished jobs of a kind on a subject.
  public func openJobCount(_ kind: JobKind, about subject: Int) throws(Refusal) -> Int {
    try run { connection in
      try connection.first(
        """
        select count(*)
        from job
        where subject = $1 and kind = $2 and finished_at is null
        """, subject, kind.name
      ) { row in try row.int(0) } ?? 0
    }
  }

  /// The unfinished jobs, the oldest first.
  func openJobs(limit: Int) throws(Refusal) -> [(id: ID<Job>, kind: String)] {
    try run { connection in
      try connection.all(
        """
        select id, kind
        from job
        where finished_at is null
        order by id
        limit $1
        """, limit
      ) { row in (ID(try row.int(0)), try row.text(1)) }
    }
  }
}

extension WriteTransaction {
  /// Begins large work; its first chunk runs after this commit.
  public func startJob(
    kind: String, subject: Int? = nil, by user: ID<User>? = nil, state: some JSONWritable
  ) throws(Refusal) -> ID<Job> {
    let id = ID<Job>(nextID())
    try run { connection in
      try connection.execute(
        """
        insert into job (id, kind, subject, state, created_at, created_by)
        values ($1, $2, $3, $4, $5, $6)
        """, id.number, kind, subject, state.jsonText, Int(now), user?.number)
    }
    hasStartedJob = true
    return id
  }

  /// Runs one chunk and stores the progress.
  func runChunk(of id: ID<Job>, _ kind: JobKind) throws(Refusal) {
    guard let job = try job(id), job.finishedAt == nil else { return }
    let (state, isFinished) = try kind.chunk(self, job.state)
    try run { connection in
      try connection.execute(
        """
        update job
        set state = $1, finished_at = $2
        where id = $3
        """, state, isFinished ? Int(now) : nil, id.number)
    }
  }

  func endJob(_ id: ID<Job>, with refusal: Refusal) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update job
        set finished_at = $1, error = $2
        where id = $3
        """, Int(now), refusal.code, id.number)
    }
  }

  /// Removes jobs that were finished long ago. Whether more are left.
  func removeFinishedJobs(limit: Int) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        delete from job
        where id in (
          select id
          from job
          where finished_at <= $1
          order by finished_at, id
          limit $2
        )
        """, Int(now - StoredJob.keptFor), limit) == limit
    }
  }
}
