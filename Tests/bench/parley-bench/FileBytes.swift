import Glibc

/// Small files: certificates, and what /proc tells.
enum FileBytes {
  struct Unreadable: Error, CustomStringConvertible {
    let path: String
    var description: String { "\(path) can't be read." }
  }

  static func read(_ path: String) throws(Unreadable) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Unreadable(path: path) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = unsafe Glibc.read(descriptor, &piece, piece.count)
      guard count >= 0 else { throw Unreadable(path: path) }
      if count == 0 { return bytes }
      bytes.append(contentsOf: piece[..<count])
    }
  }
}
