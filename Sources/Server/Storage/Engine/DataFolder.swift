import Glibc

/// The data folder: the database, the uploaded files, and a lock file that excludes a second daemon.
public final class DataFolder: Sendable {
  public let path: String
  /// Whether a restore that was cut off has been brought to its end by taking the folder.
  public let hasEndedRestore: Bool
  private let lock: Int32

  public enum Fault: Error, Sendable, CustomStringConvertible {
    case unusable(String, reason: String)
    case inUse(String)

    public var description: String {
      switch self {
      case .unusable(let path, let reason): "The data folder \(path) can't be used: \(reason)."
      case .inUse(let path):
        "Another parley uses the data folder \(path). Stop it first, or give this one a folder of its own with --data."
      }
    }
  }

  /// Locks the folder for this process, until the object is released or the process ends. Completes an interrupted
  /// restore first.
  public init(_ path: String) throws(Fault) {
    self.path = path
    let descriptor = unsafe open(Self.lockPath(in: path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .unusable(path, reason: DiskError.reason(errno)) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(descriptor)
      throw code == EWOULDBLOCK ? .inUse(path) : .unusable(path, reason: DiskError.reason(code))
    }
    do throws(DiskError) {
      hasEndedRestore = try PendingRestore.settle(path)
    } catch {
      close(descriptor)
      throw .unusable(path, reason: "a restore was begun there and can't be ended: \(error)")
    }
    lock = descriptor
  }

  deinit { close(lock) }

  /// Releases the lock before the object is released.
  func release() { flock(lock, LOCK_UN) }

  public var database: String { Self.database(in: path) }
  public var files: String { path + "/files" }
  var lockPath: String { Self.lockPath(in: path) }

  private static func lockPath(in path: String) -> String { path + "/lock" }

  static func database(in path: String) -> String { path + "/parley.db" }
}
