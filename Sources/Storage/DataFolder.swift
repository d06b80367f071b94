import Glibc

/// The one folder that holds everything: the database, the uploaded files, and a lock that keeps a second daemon out.
public final class DataFolder: Sendable {
  public let path: String
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

  /// Takes the folder for this process, until the object is let go; the system gives the lock back whatever happens.
  public init(_ path: String) throws(Fault) {
    self.path = path
    let descriptor = unsafe open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .unusable(path, reason: Self.reason(errno)) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(descriptor)
      throw code == EWOULDBLOCK ? .inUse(path) : .unusable(path, reason: Self.reason(code))
    }
    lock = descriptor
  }

  deinit { close(lock) }

  /// Lets another process have it, although the object is still held somewhere.
  func release() { flock(lock, LOCK_UN) }

  public var database: String { path + "/parley.db" }
  public var files: String { path + "/files" }

  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// The system's words for an error of its.
  static func reason(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
