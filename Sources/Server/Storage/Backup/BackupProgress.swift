/// How far a backup or a restore has come.
public struct BackupProgress: Hashable, Sendable {
  public enum Phase: String, Hashable, Sendable, CaseIterable {
    case copying, checking, packing, comparing
    case verifying, unpacking
  }

  public let phase: Phase
  /// Pages of the database while it is copied, else bytes. A total of 0: nobody knows how long it takes.
  public let done: Int
  public let total: Int

  public init(_ phase: Phase, done: Int = 0, of total: Int = 0) {
    self.phase = phase
    self.done = done
    self.total = total
  }

  /// Each check begins anew.
  init(checking step: Verification.Step) {
    switch step {
    case .working(_, let done, let total): self.init(.checking, done: done, of: total)
    case .finished: self.init(.checking)
    }
  }

  /// Called often; may end the work by throwing.
  public typealias Report = @Sendable (BackupProgress) throws(BackupFault) -> Void
}

/// What a backup holds, or what was restored.
public struct BackupReport: Hashable, Sendable {
  /// The size of the backup in bytes.
  public let size: Int
  public let messages: Int
  public let files: Int
  /// Files that the database names and that are not there, or not what they were: they are not in the backup.
  public let missing: Int
  /// The first of them.
  public let firstMissing: [String]

  /// How many of the missing are named.
  static let mostNamed = 10

  public init(size: Int, messages: Int, files: Int, missing: Int, firstMissing: [String]) {
    self.size = size
    self.messages = messages
    self.files = files
    self.missing = missing
    self.firstMissing = firstMissing
  }
}
