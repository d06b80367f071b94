import Glibc

/// A folder for the unpacked content of an archive, deleted with this object.
final class ScratchFolder: Sendable {
  let path: String

  /// Replaces a folder that an earlier import left behind.
  init(_ path: String) throws(ImportFault) {
    self.path = path
    Self.remove(path)
    guard unsafe mkdir(path, 0o700) == 0 else {
      throw ImportFault("Can't create the folder \(path): \(SourceFile.reason). Make room or change its permissions.")
    }
  }

  deinit { Self.remove(path) }

  /// Writes a file with all of its content. Returns its size.
  @discardableResult
  func write(_ name: String, _ source: any ByteSource) throws(ImportFault) -> Int {
    var folder = path
    for part in name.split(separator: "/").dropLast() {
      folder += "/" + part
      guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw failure(folder) }
    }
    let target = "\(path)/\(name)"
    let descriptor = unsafe Glibc.open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(target) }
    defer { close(descriptor) }
    var size = 0
    while let piece = try source.read() {
      var written = 0
      while written < piece.count {
        let count = unsafe piece.withUnsafeBytes { buffer in
          unsafe Glibc.write(descriptor, buffer.baseAddress.map { unsafe $0 + written }, buffer.count - written)
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw failure(target) }
        written += count
      }
      size += piece.count
    }
    return size
  }

  private func failure(_ path: String) -> ImportFault {
    ImportFault("Can't write \(path): \(SourceFile.reason). Make room on the disk and import again.")
  }

  /// Links are removed, not followed.
  private static func remove(_ path: String) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR, let stream = unsafe opendir(path) else {
      unsafe unlink(path)
      return
    }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
        unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    unsafe closedir(stream)
    for name in names { remove("\(path)/\(name)") }
    unsafe rmdir(path)
  }
}
