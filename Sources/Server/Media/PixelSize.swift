/// How large a picture is, as it is shown.
public struct PixelSize: Sendable, Hashable {
  public let width: Int
  public let height: Int

  /// Nil where it is nothing.
  public init?(width: Int, height: Int) {
    guard width > 0, height > 0 else { return nil }
    self.width = width
    self.height = height
  }

  /// Of what the first bytes tell by themselves; of other pictures `PictureFilter` says it.
  public init?(_ format: FileFormat, firstBytes bytes: Span<UInt8>) {
    switch format {
    case .gif:
      guard let width = bytes.littleUInt(2, at: 6), let height = bytes.littleUInt(2, at: 8) else { return nil }
      self.init(width: width, height: height)
    case .bmp:
      guard let width = bytes.littleUInt(4, at: 18), let height = bytes.littleUInt(4, at: 22) else { return nil }
      self.init(width: width, height: height)
    case .avif, .heic:
      guard let size = BoxSizes.largest(in: bytes) else { return nil }
      self = size
    default: return nil
    }
  }

  func turned(_ orientation: Orientation?) -> PixelSize {
    guard let orientation, orientation.isOnItsSide else { return self }
    return PixelSize(width: height, height: width) ?? self
  }
}
