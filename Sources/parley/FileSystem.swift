import CParleyLinux
import Glibc
import ParleyKit
import ParleyNetworking
import Storage
import Web

/// Files at paths that the operator or the user of the program chose: data folder, certificates, resources.
enum FileSystem {
  /// Creates a folder and its parents.
  static func makeFolder(_ path: String, mode: mode_t = 0o700) throws(Settings.UsageError) {
    var current = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
      current += (current.isEmpty || current.hasSuffix("/") ? "" : "/") + part
      if unsafe mkdir(current, mode) == 0 {
        // The mask of the process does not apply.
        unsafe chmod(current, mode)
      } else if errno != EEXIST {
        throw Settings.UsageError(message: "Can't create the folder \(current): \(reason).")
      }
    }
    guard exists(path), unsafe Glibc.access(path, R_OK | W_OK | X_OK) == 0 else {
      throw Settings.UsageError(message: "Can't access the folder \(path): \(reason).")
    }
  }

  /// The permissions of a folder that other users of the machine can open; nil if none can.
  static func openPermissions(_ path: String) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return nil }
    return String(status.st_mode & 0o777, radix: 8)
  }

  static func isReadableByOthers(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & 0o004 != 0
  }

  /// Mode and owner of a file.
  struct Access {
    struct Owner: Equatable {
      let user: uid_t
      let group: gid_t
    }

    let mode: mode_t
    var owner: Owner?
  }

  /// Mode and owner of a file or a folder; nil without one.
  static func access(_ path: String) -> Access? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return Access(
      mode: status.st_mode & 0o7777, owner: Access.Owner(user: status.st_uid, group: status.st_gid))
  }

  /// The user of the service; nil on a machine without it.
  static var serviceUser: Access.Owner? {
    guard let user = unsafe getpwnam("parley") else { return nil }
    return unsafe Access.Owner(user: user.pointee.pw_uid, group: user.pointee.pw_gid)
  }

  /// The path without symbolic links; the same one if there is no such file.
  static func resolved(_ path: String) -> String {
    guard let found = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(found) }
    return unsafe String(cString: found)
  }

  /// Creates a folder for the service, and its parents for everybody.
  static func makeServiceFolder(_ path: String) throws(Settings.UsageError) {
    try makeFolder(parent(of: path), mode: 0o755)
    try makeFolder(path)
    guard let user = serviceUser else { return }
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    defer { close(descriptor) }
    guard descriptor >= 0, fchown(descriptor, user.user, user.group) == 0 else {
      throw Settings.UsageError(message: "Can't give \(path) to the user parley: \(reason).")
    }
  }

  static func parent(of path: String) -> String {
    let parts = path.split(separator: "/").dropLast().joined(separator: "/")
    return path.hasPrefix("/") ? "/" + parts : parts.isEmpty ? "." : parts
  }

  static func isExecutable(_ path: String) -> Bool { unsafe Glibc.access(path, X_OK) == 0 }

  static func open(_ path: String) throws(Settings.UsageError) -> Descriptor {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Settings.UsageError(message: "Can't open the folder \(path): \(reason).") }
    return Descriptor(owning: descriptor)
  }

  /// Opens the data folder. Files that are created from now on are private, also if the folder is open to other users.
  static func dataFolder(_ data: String) throws(DataFolder.Fault) -> DataFolder {
    umask(0o077)
    return try DataFolder(data)
  }

  /// Locks the data folder against other processes.
  static func lock(_ data: String) throws(Settings.UsageError) -> DataFolder {
    do throws(DataFolder.Fault) {
      return try dataFolder(data)
    } catch {
      throw Settings.UsageError(message: error.description)
    }
  }

  /// The absolute path, for the daemon, which has another working directory.
  static func absolute(_ path: String) throws(Settings.UsageError) -> String {
    if path.hasPrefix("/") { return path }
    var buffer = [CChar](repeating: 0, count: 4_096)
    guard unsafe getcwd(&buffer, buffer.count) != nil else {
      throw Settings.UsageError(message: "Can't determine the working directory: \(reason).")
    }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/" + path
  }

  static func exists(_ path: String) -> Bool { unsafe Glibc.access(path, F_OK) == 0 }

  /// Whether there is certainly no such file. A folder on the way that this user can't enter may have it.
  static func isMissing(_ path: String) -> Bool {
    unsafe Glibc.access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
  }

  /// Reads a file of up to 1 MiB. Follows symbolic links, because certificate tools link to the newest file.
  static func read(_ path: String) throws(Settings.UsageError) -> [UInt8] {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Settings.UsageError(message: "Can't read \(path): \(reason).") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < 1 << 20 {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0 { throw Settings.UsageError(message: "Can't read \(path): \(reason).") }
      if count == 0 { return bytes }
      bytes.append(contentsOf: buffer[..<count])
    }
    throw Settings.UsageError(message: "\(path) is too large.")
  }

  /// Reads the standard input. Beyond `limit` bytes it is read to its end, but not kept: the other program has written all.
  static func readInput(limit: Int) throws(Settings.UsageError) -> (bytes: [UInt8], isWhole: Bool) {
    var bytes: [UInt8] = []
    var isWhole = true
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw Settings.UsageError(message: "Can't read the standard input: \(reason).") }
      if count == 0 { return (bytes, isWhole) }
      let kept = min(count, limit - bytes.count)
      bytes.append(contentsOf: buffer[..<kept])
      if kept < count { isWhole = false }
    }
  }

  /// Milliseconds of small writes with fsync(2) to a new file in a folder. Fewer than `count` after an error.
  static func durableWriteTimes(in folder: String, count: Int) -> [Int] {
    let path = "\(folder)/durable-write"
    let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return [] }
    defer {
      close(descriptor)
      unsafe unlink(path)
    }
    let block = [UInt8](repeating: 0, count: 4_096)
    return (0..<count).compactMap { _ in
      let started = Clock.monotonic()
      guard Descriptor.writeAll(block, to: descriptor), fsync(descriptor) == 0 else { return nil }
      return Int((Clock.monotonic() - started) / 1_000_000)
    }
  }

  /// Names in a folder, sorted; without hidden ones unless asked for them.
  static func names(in folder: String, includesHidden: Bool = false) throws(Settings.UsageError) -> [String] {
    guard let stream = unsafe opendir(folder) else {
      throw Settings.UsageError(message: "Can't read the folder \(folder): \(reason).")
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
        unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
      }
      let isListed = includesHidden ? name != "." && name != ".." : !name.hasPrefix(".")
      if isListed { names.append(name) }
    }
    return names.sorted()
  }

  /// Writes a file atomically, with mode 0600. The file that it replaces may give the mode and the owner.
  static func write(
    _ bytes: [UInt8], to path: String, as access: Access = Access(mode: 0o600)
  ) throws(Settings.UsageError) {
    let temporary = path + ".new"
    let descriptor = unsafe Glibc.open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Settings.UsageError(message: "Can't write \(temporary): \(reason).") }
    var isWritten = false
    do {
      defer { close(descriptor) }
      // The mask of the process does not apply.
      isWritten =
        unsafe (access.owner.map { fchown(descriptor, $0.user, $0.group) == 0 } ?? true)
        && fchmod(descriptor, access.mode) == 0 && Glibc.write(descriptor, bytes, bytes.count) == bytes.count
        && fsync(descriptor) == 0
    }
    guard isWritten, unsafe rename(temporary, path) == 0 else {
      let reason = reason
      unsafe unlink(temporary)
      throw Settings.UsageError(message: "Can't write \(path): \(reason).")
    }
  }

  /// Creates a file, or empties an existing one.
  static func create(_ path: String) throws(Settings.UsageError) -> Descriptor {
    let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard descriptor >= 0 else { throw Settings.UsageError(message: "Can't write \(path): \(reason).") }
    return Descriptor(owning: descriptor)
  }

  static func move(_ path: String, to newPath: String) throws(Settings.UsageError) {
    guard unsafe rename(path, newPath) == 0 else {
      throw Settings.UsageError(message: "Can't write \(newPath): \(reason).")
    }
  }

  /// Whether a path is that of a folder, not of a link to one.
  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether a path is that of a regular file, not of a link to one.
  static func isFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// The number of a file on its disk, which stays when it is renamed; nil without one.
  static func inode(_ path: String) -> UInt64? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    return UInt64(status.st_ino)
  }

  /// Locks a file, which is created if it does not exist, until the descriptor is released. Nil if another process has the lock.
  static func lockFile(_ path: String) throws(Settings.UsageError) -> Descriptor? {
    let descriptor = try create(path)
    if flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 { return descriptor }
    guard errno == EWOULDBLOCK else { throw Settings.UsageError(message: "Can't lock \(path): \(reason).") }
    return nil
  }

  /// Exchanges two files or folders in one step.
  static func exchange(_ path: String, _ other: String) throws(Settings.UsageError) {
    // RENAME_EXCHANGE of linux/fs.h.
    guard unsafe renameat2(AT_FDCWD, path, AT_FDCWD, other, 1 << 1) == 0 else {
      throw Settings.UsageError(message: "Can't exchange \(path) and \(other): \(reason).")
    }
    try sync(parent(of: path))
    try sync(parent(of: other))
  }

  /// Brings the names in a folder to the disk.
  static func sync(_ folder: String) throws(Settings.UsageError) {
    let descriptor = try open(folder)
    guard fsync(descriptor.number) == 0 else {
      throw Settings.UsageError(message: "Can't write \(folder): \(reason).")
    }
  }

  /// Brings all files on the disk of a folder to the disk.
  static func syncAll(_ folder: String) throws(Settings.UsageError) {
    let descriptor = try open(folder)
    guard syncfs(descriptor.number) == 0 else {
      throw Settings.UsageError(message: "Can't write \(folder): \(reason).")
    }
  }

  /// Free bytes of the disk of a folder; nil if the system does not report them.
  static func freeSpace(_ folder: String) -> Int? {
    var status = statvfs()
    guard unsafe statvfs(folder, &status) == 0 else { return nil }
    return Int(clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
  }

  /// Lets this process, if root runs it, act as the owner of a folder from now on.
  static func actAsOwner(of folder: String) throws(Settings.UsageError) {
    guard geteuid() == 0, let owner = access(folder)?.owner, owner.user != 0 else { return }
    guard setgroups(0, nil) == 0, setgid(owner.group) == 0, setuid(owner.user) == 0 else {
      throw Settings.UsageError(message: "Can't act as the owner of \(folder): \(reason).")
    }
  }

  static func remove(_ path: String) throws(Settings.UsageError) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else {
      throw Settings.UsageError(message: "Can't delete \(path): \(reason).")
    }
  }

  static func removeEmptyFolder(_ path: String) throws(Settings.UsageError) {
    guard unsafe rmdir(path) == 0 else { throw Settings.UsageError(message: "Can't delete \(path): \(reason).") }
  }

  /// Opens a file for upload, read by offset. A file that is truncated meanwhile ends the upload.
  static func source(_ path: String) throws(Settings.UsageError) -> FileSource {
    let descriptor = Descriptor(owning: unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC))
    var status = stat()
    guard descriptor.number >= 0, unsafe fstat(descriptor.number, &status) == 0 else {
      throw Settings.UsageError(message: "Can't read \(path): \(reason).")
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw Settings.UsageError(message: "\(path) is not a file.") }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return FileSource(name: name, size: Int(status.st_size)) { offset, count in
      var bytes = [UInt8](repeating: 0, count: count)
      let read = unsafe pread(descriptor.number, &bytes, count, off_t(offset))
      guard read >= 0 else { throw SystemError("read", code: errno) }
      return Array(bytes[..<read])
    }
  }

  /// Folders that are installed with the program.
  private static let resources = ["Public", "Migrations"]

  static func migrations(_ share: String) -> String { "\(share)/Migrations/sqlite" }

  /// The folder with `Public` and `Migrations`: the setting, else beside the installed program, else in the package.
  static func share(_ setting: String?) throws(Settings.UsageError) -> String {
    if let setting {
      for name in resources where !exists("\(setting)/\(name)") {
        throw Settings.UsageError(message: "\(setting) has no folder \(name). Set the parent of \(name) with --share.")
      }
      return setting
    }
    var candidates: [String] = []
    if var path = programPath {
      for _ in 0..<4 {
        guard let slash = path.lastIndex(of: "/") else { break }
        path = String(path[..<slash])
        candidates += ["\(path)/../share/parley", path]
      }
    }
    guard let found = candidates.first(where: { folder in resources.allSatisfy { exists("\(folder)/\($0)") } }) else {
      throw Settings.UsageError(
        message: "The folders Public and Migrations are not beside the program. Set their parent with --share.")
    }
    return found
  }

  /// The path of the executable file of this process.
  static var programPath: String? {
    var buffer = [CChar](repeating: 0, count: 4_096)
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0, count < buffer.count else { return nil }
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static var reason: String { SystemError("", code: errno).reason }
}
