/// A file to upload. Its bytes are read by offset, so that an interrupted upload can resume.
public struct FileSource: Sendable {
  /// The file's name on the server.
  public var name: String
  /// In bytes.
  public var size: Int
  /// The app's own type name, such as `com.example.photo`. The server detects the media type from the bytes.
  public var type: String?
  /// Creates a preview image within the server's limits `preview_side` and `preview_bytes`; nil if there is none. A
  /// rejected preview does not stop the upload.
  public var preview: (@Sendable () async -> [UInt8]?)?
  /// Reads at most `count` bytes at `offset`. Empty at the end of the file.
  public var read: @Sendable (_ offset: Int, _ count: Int) async throws -> [UInt8]

  /// A file of `size` bytes, read in parts.
  public init(
    name: String, size: Int, type: String? = nil, preview: (@Sendable () async -> [UInt8]?)? = nil,
    read: @escaping @Sendable (_ offset: Int, _ count: Int) async throws -> [UInt8]
  ) {
    self.name = name
    self.size = size
    self.type = type
    self.preview = preview
    self.read = read
  }

  /// A file in memory.
  public init(
    name: String, bytes: [UInt8], type: String? = nil, preview: (@Sendable () async -> [UInt8]?)? = nil
  ) {
    self.init(name: name, size: bytes.count, type: type, preview: preview) { offset, count in
      guard offset < bytes.count else { return [] }
      return Array(bytes[offset..<min(bytes.count, offset + count)])
    }
  }
}
