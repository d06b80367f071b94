import Glibc
import ParleyKit
import ParleyNetworking

/// The folder of the standard device, and the local files that it sends.
enum StandardFolder {
  /// The folder for a task of the tests.
  @TaskLocal static var replacement: String?

  static var path: String {
    get throws(CacheFault) {
      if let replacement { return replacement }
      let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)
      guard let path = path(of: program ?? "parley", variable) else {
        throw .broken("neither XDG_DATA_HOME nor HOME is an absolute path")
      }
      return path
    }
  }

  /// The folder of a program, by the XDG Base Directory Specification: a relative path is ignored.
  static func path(of program: String, _ variable: (_ name: String) -> String?) -> String? {
    if let data = variable("XDG_DATA_HOME"), data.hasPrefix("/") { return "\(data)/\(program)" }
    guard let home = variable("HOME"), home.hasPrefix("/") else { return nil }
    return "\(home)/.local/share/\(program)"
  }

  private static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  /// Creates the folder and its parents.
  static func create(_ path: String) throws(CacheFault) {
    var current = ""
    for part in path.split(separator: "/") {
      current += (path.hasPrefix("/") || !current.isEmpty ? "/" : "") + part
      guard unsafe mkdir(current, 0o700) == 0 || errno == EEXIST else {
        throw .broken("\(SystemError("mkdir \(current)", code: errno))")
      }
    }
  }

  /// Opens a local file of the outbox, read by offset.
  @Sendable static func open(_ file: PendingFile) async throws -> FileSource {
    let descriptor = Descriptor(owning: unsafe Glibc.open(file.path, O_RDONLY | O_CLOEXEC))
    var status = stat()
    guard descriptor.number >= 0, unsafe fstat(descriptor.number, &status) == 0 else {
      throw SystemError("open", code: errno)
    }
    return FileSource(name: file.name, size: Int(status.st_size)) { offset, count in
      var bytes = [UInt8](repeating: 0, count: count)
      let read = unsafe pread(descriptor.number, &bytes, count, off_t(offset))
      guard read >= 0 else { throw SystemError("read", code: errno) }
      return Array(bytes[..<read])
    }
  }
}
