/// Progress of a backup or restore.
public struct BackupProgress: Hashable, Sendable {
  public enum Phase: String, Hashable, Sendable, CaseIterable {
    case copying, checking, packing, comparing
    case verifying, unpacking
  }

  public let phase: Phase
  /// Database pages while copying, bytes otherwise. Total 0: unknown.
  public let done: Int
  public let total: Int

  public init(_ phase: Phase, done: Int = 0, of total: Int = 0) {
    self.phase = phase
    self.done = done
    self.total = total
  }

  /// Each check starts at 0.
  init(checking step: Verification.Step) {
    switch step {
    case .working(_, let done, let total): self.init(.checking, done: done, of: total)
    case .finished: self.init(.checking)
    }
  }

  /// Called often. Cancels the work by throwing.
  public typealias Report = @Sendable (BackupProgress) throws(BackupFault) -> Void
}

/// Contents of a backup, or of a restore.
public struct BackupReport: Hashable, Sendable {
  /// Size of the backup in bytes.
  public let size: Int
  public let messages: Int
  public let files: Int
  /// The number of files that were copied; the others were in the backup folder.
  public let newFiles: Int
  /// Files named by the database but missing or altered; they are not in the backup.
  public let missing: Int
  /// The first of them.
  public let firstMissing: [String]

  /// Maximum number of missing files listed.
  static let maxListed = 10

  /// - Parameter newFiles: nil for all files.
  public init(
    size: Int, messages: Int, files: Int, newFiles: Int? = nil, missing: Int, firstMissing: [String]
  ) {
    self.size = size
    self.messages = messages
    self.files = files
    self.newFiles = newFiles ?? files
    self.missing = missing
    self.firstMissing = firstMissing
  }
}
