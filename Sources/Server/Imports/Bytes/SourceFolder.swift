import Glibc

/// A folder of a source. Symbolic links in it are not followed: an export has none, and they lead to other files of the
/// machine.
public final class SourceFolder: Sendable {
  private let descriptor: Int32
  public let path: String

  public init(_ path: String) throws(ImportFault) {
    self.path = path
    descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw ImportFault("Can't read the folder \(path): \(SourceFile.reason). Check the path and its permissions.")
    }
  }

  deinit { close(descriptor) }

  public static func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// A file below the folder; nil if there is none, or a link.
  func file(_ name: String) throws(ImportFault) -> SourceFile? {
    guard SafePath.isSafe(name) else { return nil }
    let parts = name.split(separator: "/").map(String.init)
    guard let last = parts.last else { return nil }
    var folder = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    defer { if folder >= 0 { close(folder) } }
    for part in parts.dropLast() {
      guard folder >= 0 else { return nil }
      let next = unsafe openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      close(folder)
      folder = next
    }
    guard folder >= 0 else { return nil }
    let file = unsafe openat(folder, last, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(file)
      return nil
    }
    return try SourceFile(owning: file, name)
  }

  /// Relative paths of all files, sorted.
  func names() throws(ImportFault) -> [String] {
    var found: [String] = []
    try list("", depth: 0, into: &found)
    return found.sorted()
  }

  private func list(_ folder: String, depth: Int, into found: inout [String]) throws(ImportFault) {
    guard depth <= ImportLimits.folders else {
      throw ImportFault(
        "\(path) has folders deeper than \(ImportLimits.folders). Name the folder of the export itself.")
    }
    let full = folder.isEmpty ? path : "\(path)/\(folder)"
    guard let stream = unsafe opendir(full) else {
      throw ImportFault("Can't read the folder \(full): \(SourceFile.reason). Check its permissions.")
    }
    defer { unsafe closedir(stream) }
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
        unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard !name.hasPrefix(".") else { continue }
      let relative = folder.isEmpty ? name : "\(folder)/\(name)"
      var status = stat()
      guard unsafe lstat("\(path)/\(relative)", &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: try list(relative, depth: depth + 1, into: &found)
      case S_IFREG: found.append(relative)
      default: continue
      }
      guard found.count <= ImportLimits.files else {
        throw ImportFault("\(path) has more than \(ImportLimits.files) files. Name the folder of the export itself.")
      }
    }
  }
}

/// Names of files inside of a source.
enum SafePath {
  /// Whether a name stays inside of its folder.
  static func isSafe(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= ImportLimits.nameBytes && !name.hasPrefix("/") && !name.utf8.contains(0)
      && !name.contains("\\")
      && name.split(separator: "/").allSatisfy { $0 != ".." && $0 != "." }
  }
}
