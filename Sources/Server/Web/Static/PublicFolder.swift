// A folder whose files strangers may ask for by name. Each part of a name is opened relative to the folder before it,
// and a symbolic link is followed nowhere: whatever is renamed or linked meanwhile, no name leads out.

import Glibc

struct PublicFolder: Sendable {
  /// Chosen by the host, who may use links. Looked up anew each time, so that a folder can be replaced as a whole.
  let path: String

  /// The deepest that files lie; it bounds what a lookup costs.
  static let maxParts = 16

  private static let asFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC

  var exists: Bool {
    let folder = unsafe open(path, Self.asFolder)
    guard folder >= 0 else { return false }
    close(folder)
    return true
  }

  /// Opens a regular file; nil when there is none. `parts` are the names of folders and, at last, of the file; none of
  /// them is a step up or holds a slash or a NUL.
  func file(_ parts: [String]) throws(Problem) -> OpenFile? {
    guard let name = parts.last, parts.count <= Self.maxParts else { return nil }
    var here = unsafe open(path, Self.asFolder)
    guard here >= 0 else { return try absent(errno) }
    for part in parts.dropLast() {
      let next = unsafe openat(here, part, Self.asFolder | O_NOFOLLOW)
      let reason = errno
      close(here)
      guard next >= 0 else { return try absent(reason) }
      here = next
    }
    // Not to wait for who might write to a FIFO.
    let found = unsafe openat(here, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    let reason = errno
    close(here)
    guard found >= 0 else { return try absent(reason) }
    return OpenFile(owning: found)
  }

  /// "There is none" is an answer; "it can't be told" (too many open files, a failing disk) is another.
  private func absent(_ reason: Int32) throws(Problem) -> OpenFile? {
    switch reason {
    case ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EACCES, ENXIO, ENODEV: return nil
    default:
      var problem = Problem.unavailable
      problem.cause = "a file of \(path) could not be opened: error \(reason)"
      throw problem
    }
  }
}
