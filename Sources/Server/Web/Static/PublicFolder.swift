// A folder with public files. Each component of a path is opened relative to its parent, and symbolic links are not
// followed, so no path can leave the folder, even if files are renamed or linked concurrently.

import Glibc

struct PublicFolder: Sendable {
  /// Configured by the operator; may be a symbolic link. Resolved for each file, so the folder can be replaced as a
  /// whole.
  let path: String

  /// Maximum depth; limits the cost of a lookup.
  static let maxParts = 16

  private static let asFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC

  var exists: Bool {
    let folder = unsafe open(path, Self.asFolder)
    guard folder >= 0 else { return false }
    close(folder)
    return true
  }

  /// Opens a regular file; nil if there is none.
  /// - Parameter parts: names of the folders and of the file, without `..`, slashes and NUL.
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
    // O_NONBLOCK: opening a FIFO would wait for a writer.
    let found = unsafe openat(here, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    let reason = errno
    close(here)
    guard found >= 0 else { return try absent(reason) }
    return OpenFile(owning: found)
  }

  /// Returns nil if the file does not exist; throws for other errors (too many open files, a failing disk).
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
