import Glibc

/// A file of a source. Reads at an offset, so that several readers share it.
public final class SourceFile: Sendable {
  private let descriptor: Int32
  public let size: Int
  public let name: String

  static let pieceSize = 65_536

  /// Opens a file that the operator named.
  public convenience init(path: String) throws(ImportFault) {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw ImportFault("Can't read \(path): \(Self.reason). Check the path and its permissions.")
    }
    try self.init(owning: descriptor, path)
  }

  init(owning descriptor: Int32, _ name: String) throws(ImportFault) {
    self.descriptor = descriptor
    self.name = name
    var status = stat()
    let isFile = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    size = isFile ? Int(status.st_size) : 0
    guard isFile else { throw ImportFault("\(name) is not a file.") }
  }

  deinit { close(descriptor) }

  static var reason: String { unsafe String(cString: strerror(errno)) }

  /// Reads `count` bytes, fewer at the end of the file.
  func read(at offset: Int, _ count: Int) throws(ImportFault) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(0, min(count, size - offset)))
    var filled = 0
    while filled < bytes.count {
      let got = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe pread(
          descriptor, buffer.baseAddress.map { unsafe $0 + filled }, buffer.count - filled, off_t(offset + filled))
      }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else {
        throw ImportFault("Can't read \(name): \(got == 0 ? "it became shorter" : Self.reason). Try again.")
      }
      filled += got
    }
    return bytes
  }

  /// A reader of a range; of the whole file without one.
  func source(_ range: Range<Int>? = nil) -> RangeSource { RangeSource(self, range ?? 0..<size) }
}

final class RangeSource: ByteSource {
  private let file: SourceFile
  private var left: Range<Int>

  init(_ file: SourceFile, _ range: Range<Int>) {
    self.file = file
    left = range
  }

  func read() throws(ImportFault) -> [UInt8]? {
    guard !left.isEmpty else { return nil }
    let piece = try file.read(at: left.lowerBound, min(SourceFile.pieceSize, left.count))
    guard !piece.isEmpty else { return nil }
    left = left.lowerBound + piece.count..<left.upperBound
    return piece
  }
}
