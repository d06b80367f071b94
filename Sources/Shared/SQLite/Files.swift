#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `read(2)`, which the function of the same name below hides.
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  unsafe read(descriptor, buffer, count)
}

/// `write(2)`, hidden likewise.
private func writeBytes(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(descriptor, buffer, count)
}

/// File operations of this module.
enum Files {
  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// Visible names in a folder, sorted.
  static func names(in folder: String) throws(SQLiteError) -> [String] {
    guard let stream = unsafe opendir(folder) else { throw failure("\(folder) can't be read") }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
        unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  static func read(_ path: String) throws(SQLiteError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("\(path) can't be read") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe readBytes(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("\(path) can't be read") }
      if count == 0 { return bytes }
      bytes.append(contentsOf: buffer[..<count])
    }
  }

  /// Writes a file that only its owner may read or write. Fails if it exists.
  static func write(_ bytes: [UInt8], toNew path: String) throws(SQLiteError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("\(path) can't be created") }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe writeBytes(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("\(path) can't be written") }
      rest = rest.dropFirst(count)
    }
  }

  /// Syncs and renames a complete file, so that after a power cut it exists complete or not at all.
  static func publish(_ draft: String, as path: String) throws(SQLiteError) {
    try sync(draft)
    guard unsafe rename(draft, path) == 0 else { throw failure("\(draft) can't be renamed") }
    try sync(folder(of: path))
  }

  /// Removes a file; a missing file is no error.
  static func remove(_ path: String) throws(SQLiteError) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("\(path) can't be removed") }
  }

  /// Only the owner may read or write the file.
  static func restrict(_ path: String) throws(SQLiteError) {
    guard unsafe chmod(path, 0o600) == 0 else { throw failure("The mode of \(path) can't be changed") }
  }

  /// Syncs the contents of a file, or the entries of a folder.
  static func sync(_ path: String) throws(SQLiteError) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("\(path) can't be opened") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("\(path) can't be written to the disk") }
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Error for the last failed system call.
  private static func failure(_ what: String) -> SQLiteError {
    let code = errno
    var text = [CChar](repeating: 0, count: 256)
    let isKnown = unsafe strerror_r(code, &text, text.count) == 0
    let reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return SQLiteError(code: code == ENOSPC ? .full : .io, message: "\(what): \(isKnown ? reason : "error \(code)")")
  }
}
