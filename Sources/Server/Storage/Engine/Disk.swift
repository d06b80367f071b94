import CParleyLinux
import Glibc

/// A failed file operation.
struct DiskError: Error, CustomStringConvertible {
  let what: String
  let code: Int32

  /// For the call that has just failed.
  init(_ what: String) {
    self.what = what
    code = errno
  }

  var description: String { "\(what): \(Self.reason(code))" }

  var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }

  /// The system's own words.
  static func reason(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// Names in the file system, given by the host or made here; never by a peer.
enum Disk {
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Refuses a symbolic link and every other entry that is not a folder.
  static func requireFolder(_ path: String) throws(DiskError) { try require(path, S_IFDIR, "folder") }

  /// Refuses a symbolic link and every other entry that is not a regular file.
  static func requireFile(_ path: String) throws(DiskError) { try require(path, S_IFREG, "file") }

  private static func require(_ path: String, _ type: mode_t, _ typeName: String) throws(DiskError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { throw DiskError("\(path) can't be read") }
    guard status.st_mode & S_IFMT == type else {
      errno = EINVAL
      throw DiskError("\(path) is no \(typeName)")
    }
  }

  /// The size of a regular file; nil where there is none.
  static func size(_ path: String) -> Int? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  /// The last change of a file, in milliseconds since 1970; nil where there is none.
  static func changedAt(_ path: String) -> Int64? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    return Int64(status.st_mtim.tv_sec) * 1_000 + Int64(status.st_mtim.tv_nsec) / 1_000_000
  }

  /// Bytes of a disk.
  struct Space {
    /// For users other than root.
    let free: Int
    let total: Int
    let used: Int

    /// The percentage of df, without the blocks that only root may use.
    var percentUsed: Int { Int((Double(used) * 100 / Double(max(1, used + free))).rounded(.up)) }

    /// A part of the bytes that users other than root may use.
    func percent(_ part: Int) -> Int { (used + free) / 100 * part }
  }

  /// The disk of a folder; nil if the system does not report it.
  static func space(_ path: String) -> Space? {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return nil }
    let block = Int(clamping: status.f_frsize)
    func bytes(_ blocks: fsblkcnt_t) -> Int {
      let (bytes, isTooMany) = Int(clamping: blocks).multipliedReportingOverflow(by: block)
      return isTooMany ? .max : bytes
    }
    let total = bytes(status.f_blocks)
    return Space(free: bytes(status.f_bavail), total: total, used: total - min(total, bytes(status.f_bfree)))
  }

  /// Creates a file of `size` bytes that occupies its space on the disk.
  static func allocate(_ path: String, size: Int) throws(DiskError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw DiskError("\(path) can't be created") }
    defer { close(descriptor) }
    let code = posix_fallocate(descriptor, 0, off_t(size))
    guard code == 0 else {
      errno = code
      throw DiskError("\(path) can't be allocated")
    }
  }

  /// The disk space of a file, or of a folder with all that is in it, as du counts it.
  static func usage(_ path: String) throws(DiskError) -> Int {
    var bytes = 0
    try walk(path) { path, _ throws(DiskError) in
      var status = stat()
      // A file may disappear meanwhile.
      guard unsafe lstat(path, &status) == 0 else { return }
      bytes += Int(status.st_blocks) * 512
    }
    return bytes
  }

  static func makeFolder(_ path: String) throws(DiskError) {
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw DiskError("\(path) can't be created") }
  }

  /// Makes the folders that a path passes through, from `folder` on, which is there.
  static func makeFolders(to path: String, below folder: String) throws(DiskError) {
    var made = folder
    for part in path.dropFirst(folder.count).split(separator: "/").dropLast() {
      made += "/\(part)"
      try makeFolder(made)
    }
  }

  static func move(_ path: String, to other: String) throws(DiskError) {
    guard unsafe rename(path, other) == 0 else { throw DiskError("\(path) can't be moved to \(other)") }
  }

  /// Links a file under another name, or renames it on file systems without hard links. An existing link is no error.
  static func name(_ path: String, also other: String) throws(DiskError) {
    guard unsafe link(path, other) != 0, errno != EEXIST else { return }
    try move(path, to: other)
  }

  /// Removes a file. No-op if it does not exist.
  static func remove(_ path: String) throws(DiskError) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw DiskError("\(path) can't be removed") }
  }

  /// Removes an empty folder. Returns whether it was removed.
  static func removeEmpty(_ folder: String) -> Bool { unsafe rmdir(folder) == 0 }

  /// Removes a folder with its contents. No-op if it does not exist.
  static func removeTree(_ path: String) throws(DiskError) {
    try walk(path) { path, isFolder throws(DiskError) in
      guard unsafe isFolder ? rmdir(path) == 0 : unlink(path) == 0 else { throw DiskError("\(path) can't be removed") }
    }
  }

  /// Syncs a folder, so that its entries are durable.
  static func sync(_ folder: String) throws(DiskError) {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw DiskError("\(folder) can't be opened") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw DiskError("\(folder) can't be written to the disk") }
  }

  /// Brings everything on the disk of a folder to the disk: one wait for any number of files. Linux reports failed writes
  /// here since 5.8 (syncfs(2)).
  static func syncFileSystem(of folder: String) throws(DiskError) {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw DiskError("\(folder) can't be opened") }
    defer { close(descriptor) }
    guard syncfs(descriptor) == 0 else { throw DiskError("\(folder) can't be written to the disk") }
  }

  /// Sets the owner of a file to the owner of `folder`, so that root can create files for the server's user.
  static func give(_ path: String, toOwnerOf folder: String) throws(DiskError) {
    guard geteuid() == 0 else { return }
    var status = stat()
    guard unsafe stat(folder, &status) == 0 else { throw DiskError("\(folder) can't be read") }
    let (owner, group) = (status.st_uid, status.st_gid)
    try walk(path) { path, _ throws(DiskError) in
      guard unsafe lchown(path, owner, group) == 0 else { throw DiskError("\(path) can't be given to its owner") }
    }
  }

  static func names(in folder: String) throws(DiskError) -> [String] {
    guard let stream = unsafe opendir(folder) else { throw DiskError("\(folder) can't be read") }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
        unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// The names in a folder; none if the path is that of something else.
  static func namesIfFolder(_ path: String) throws(DiskError) -> [String] {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return [] }
    return try names(in: path)
  }

  /// The absolute path without symbolic links, also of a folder that does not exist yet.
  static func canonical(_ path: String) -> String {
    if let resolved = unsafe realpath(path, nil) {
      defer { unsafe free(resolved) }
      return unsafe String(cString: resolved)
    }
    guard path != "/", path != "." else { return path }
    let end = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
    return "\(canonical(folder(of: path)))/\(path[end...])"
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Visits a folder's content first, and then the folder. Does not follow links.
  private static func walk(
    _ path: String, _ visit: (_ path: String, _ isFolder: Bool) throws(DiskError) -> Void
  ) throws(DiskError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return }
    let isFolder = status.st_mode & S_IFMT == S_IFDIR
    if isFolder { for name in try names(in: path) { try walk("\(path)/\(name)", visit) } }
    try visit(path, isFolder)
  }
}

/// A file that is read or written from its beginning to its end.
final class DiskFile {
  let path: String
  private let descriptor: Int32

  /// Size of one read in bytes.
  static let pieceSize = 262_144

  private init(_ path: String, _ descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Opens a regular file.
  static func open(
    _ path: String, followingLinks: Bool = false, isWritten: Bool = false
  ) throws(DiskError) -> DiskFile {
    let link = followingLinks ? 0 : O_NOFOLLOW
    return try open(path, (isWritten ? O_RDWR : O_RDONLY) | link, S_IFREG, "file")
  }

  private static func open(
    _ path: String, _ flags: Int32, _ type: mode_t, _ typeName: String
  ) throws(DiskError) -> DiskFile {
    // O_NONBLOCK: opening a FIFO would wait for its other end.
    let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw DiskError("\(path) can't be opened") }
    let file = DiskFile(path, descriptor)
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == type else {
      errno = EINVAL
      throw DiskError("\(path) is no \(typeName)")
    }
    return file
  }

  /// Makes a file that only its owner may read, where there is none.
  static func make(_ path: String) throws(DiskError) -> DiskFile {
    let descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw DiskError("\(path) can't be created") }
    return DiskFile(path, descriptor)
  }

  /// Standard input.
  static func input() throws(DiskError) -> DiskFile {
    let descriptor = dup(STDIN_FILENO)
    guard descriptor >= 0 else { throw DiskError("standard input can't be read") }
    return DiskFile("standard input", descriptor)
  }

  /// The longest time that a stream waits for its reader, in milliseconds: ten minutes.
  private static let maxStreamWait: Int32 = 600_000

  /// Opens a named pipe that has a reader, or standard output for "-".
  static func openStream(_ path: String) throws(DiskError) -> DiskFile {
    if path == "-" {
      let descriptor = dup(STDOUT_FILENO)
      guard descriptor >= 0 else { throw DiskError("standard output can't be written") }
      return DiskFile("standard output", descriptor)
    }
    return try open(path, O_WRONLY | O_NOFOLLOW, S_IFIFO, "pipe")
  }

  /// Waits until the reader of a full pipe has taken bytes.
  private func waitForReader() -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    let count = unsafe poll(&entry, 1, Self.maxStreamWait)
    if count == 0 { errno = ETIMEDOUT }
    return count > 0 || count < 0 && errno == EINTR
  }

  var size: Int {
    get throws(DiskError) {
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw DiskError("\(path) can't be read") }
      return Int(status.st_size)
    }
  }

  /// Whether only its owner may read the file.
  var isPrivate: Bool {
    get throws(DiskError) {
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw DiskError("\(path) can't be read") }
      return status.st_mode & (S_IRWXG | S_IRWXO) == 0
    }
  }

  /// Reads `count` bytes, or fewer at the end of the file.
  func read(_ count: Int) throws(DiskError) -> [UInt8] {
    var isFailed = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let got = unsafe Glibc.read(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled)
        if got < 0, errno == EINTR { continue }
        if got < 0 { isFailed = true }
        if got <= 0 { return }
        filled += got
      }
    }
    if isFailed { throw DiskError("\(path) can't be read") }
    return bytes
  }

  func write(_ bytes: [UInt8]) throws(DiskError) {
    var done = 0
    while done < bytes.count {
      let written = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
      }
      if written < 0, errno == EINTR { continue }
      if written < 0, errno == EAGAIN, waitForReader() { continue }
      guard written > 0 else { throw DiskError("\(path) can't be written") }
      done += written
    }
  }

  /// Sets the position of the next read.
  func seek(to offset: Int) throws(DiskError) {
    guard lseek(descriptor, off_t(offset), SEEK_SET) == off_t(offset) else { throw DiskError("\(path) can't be read") }
  }

  /// Truncates the file and sets the position of the next write to its end.
  func cut(to size: Int) throws(DiskError) {
    guard ftruncate(descriptor, off_t(size)) == 0, lseek(descriptor, off_t(size), SEEK_SET) == off_t(size) else {
      throw DiskError("\(path) can't be cut")
    }
  }

  func sync() throws(DiskError) {
    guard fsync(descriptor) == 0 else { throw DiskError("\(path) can't be written to the disk") }
    // The next read comes from the disk, not from the page cache.
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
  }
}
