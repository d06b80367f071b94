import Glibc
import ParleyKit
import ParleyNetworking
import Storage
import Web

/// Files of the host's own: the data folder, certificates, and what is shipped with the program.
enum Folder {
  /// Makes the folder and those above it. Only its owner may look inside.
  static func make(_ path: String) throws(Settings.Mistake) {
    var made = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
      made += (made.isEmpty || made.hasSuffix("/") ? "" : "/") + part
      if unsafe mkdir(made, 0o700) != 0, errno != EEXIST {
        throw Settings.Mistake(sentence: "The folder \(made) can't be made: \(reason).")
      }
    }
    guard exists(path), unsafe access(path, R_OK | W_OK | X_OK) == 0 else {
      throw Settings.Mistake(sentence: "The data folder \(path) can't be used: \(reason).")
    }
  }

  static func open(_ path: String) throws(Settings.Mistake) -> Descriptor {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Settings.Mistake(sentence: "The folder \(path) can't be opened: \(reason).") }
    return Descriptor(owning: descriptor)
  }

  /// Keeps another daemon or command away from the data folder.
  static func lock(_ data: String) throws(Settings.Mistake) -> DataFolder {
    do throws(DataFolder.Fault) {
      return try DataFolder(data)
    } catch {
      throw Settings.Mistake(sentence: error.description)
    }
  }

  /// The path from the root, for a process that is elsewhere.
  static func absolute(_ path: String) throws(Settings.Mistake) -> String {
    if path.hasPrefix("/") { return path }
    var buffer = [CChar](repeating: 0, count: 4_096)
    guard unsafe getcwd(&buffer, buffer.count) != nil else {
      throw Settings.Mistake(sentence: "This folder has no path: \(reason).")
    }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/" + path
  }

  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// A small file as a whole. Symbolic links are followed: certificate tools keep the newest behind one.
  static func read(_ path: String) throws(Settings.Mistake) -> [UInt8] {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Settings.Mistake(sentence: "\(path) can't be read: \(reason).") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < 1 << 20 {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0 { throw Settings.Mistake(sentence: "\(path) can't be read: \(reason).") }
      if count == 0 { return bytes }
      bytes.append(contentsOf: buffer[..<count])
    }
    throw Settings.Mistake(sentence: "\(path) is too large.")
  }

  /// Writes a file that only its owner may read, whole or not at all.
  static func write(_ bytes: [UInt8], to path: String) throws(Settings.Mistake) {
    let draft = path + ".new"
    let descriptor = unsafe Glibc.open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Settings.Mistake(sentence: "\(draft) can't be written: \(reason).") }
    var isWritten = false
    do {
      defer { close(descriptor) }
      isWritten = unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
    }
    guard isWritten, unsafe rename(draft, path) == 0 else {
      throw Settings.Mistake(sentence: "\(path) can't be written: \(reason).")
    }
  }

  static func remove(_ path: String) throws(Settings.Mistake) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else {
      throw Settings.Mistake(sentence: "\(path) can't be removed: \(reason).")
    }
  }

  /// A file to be sent, read by its places. What is cut short meanwhile ends the sending.
  static func source(_ path: String) throws(Settings.Mistake) -> FileSource {
    let descriptor = Descriptor(owning: unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC))
    var status = stat()
    guard descriptor.number >= 0, unsafe fstat(descriptor.number, &status) == 0 else {
      throw Settings.Mistake(sentence: "\(path) can't be read: \(reason).")
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw Settings.Mistake(sentence: "\(path) is no file.") }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return FileSource(name: name, size: Int(status.st_size)) { offset, count in
      var bytes = [UInt8](repeating: 0, count: count)
      let read = unsafe pread(descriptor.number, &bytes, count, off_t(offset))
      guard read >= 0 else { throw SystemError("read", code: errno) }
      return Array(bytes[..<read])
    }
  }

  /// What is shipped with the program.
  private static let shared = ["Public", "Migrations"]

  static func migrations(_ share: String) -> String { "\(share)/Migrations/sqlite" }

  /// Where `Public` and `Migrations` are: as set, else beside the installed program, else in the package.
  static func share(_ setting: String?) throws(Settings.Mistake) -> String {
    if let setting {
      for name in shared where !exists("\(setting)/\(name)") {
        throw Settings.Mistake(sentence: "There is no \(name) in \(setting). --share names the folder that holds it.")
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
    guard let found = candidates.first(where: { place in shared.allSatisfy { exists("\(place)/\($0)") } }) else {
      throw Settings.Mistake(
        sentence: "The folders Public and Migrations are not beside the program. --share says where they are.")
    }
    return found
  }

  private static var programPath: String? {
    var buffer = [CChar](repeating: 0, count: 4_096)
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0, count < buffer.count else { return nil }
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static var reason: String { SystemError("", code: errno).reason }
}
