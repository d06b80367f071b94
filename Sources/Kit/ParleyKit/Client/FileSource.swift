/// A file to be sent: its bytes are asked for by their place, so that sending can go on where it was interrupted.
public struct FileSource: Sendable {
  public var name: String
  public var size: Int
  /// What an app calls its kind of file, such as `com.example.photo`. The media type is for the server to find in the bytes.
  public var type: String?
  /// A small picture of it that the app makes, within `preview_side` and `preview_bytes` of the server's limits; nil where
  /// there is none. That it can't be taken keeps no file back.
  public var preview: (@Sendable () async -> [UInt8]?)?
  /// At most so many bytes from this place; none is the end.
  public var read: @Sendable (_ offset: Int, _ count: Int) async throws -> [UInt8]

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

  /// A file that is in memory.
  public init(
    name: String, bytes: [UInt8], type: String? = nil, preview: (@Sendable () async -> [UInt8]?)? = nil
  ) {
    self.init(name: name, size: bytes.count, type: type, preview: preview) { offset, count in
      guard offset < bytes.count else { return [] }
      return Array(bytes[offset..<min(bytes.count, offset + count)])
    }
  }
}
