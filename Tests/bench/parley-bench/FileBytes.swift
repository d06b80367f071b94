import Glibc

/// Reads small files: certificates and /proc.
enum FileBytes {
  struct Unreadable: Error, CustomStringConvertible {
    let path: String
    var description: String { "Can't read \(path)." }
  }

  static func read(_ path: String) throws(Unreadable) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Unreadable(path: path) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      guard count >= 0 else { throw Unreadable(path: path) }
      if count == 0 { return bytes }
      bytes.append(contentsOf: buffer[..<count])
    }
  }
}
