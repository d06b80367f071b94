/// The size of a picture as displayed, in pixels.
public struct PixelSize: Sendable, Hashable {
  public let width: Int
  public let height: Int

  /// Nil if either is not positive.
  public init?(width: Int, height: Int) {
    guard width > 0, height > 0 else { return nil }
    self.width = width
    self.height = height
  }

  /// Reads the size from the first bytes. For other formats see `PictureFilter`.
  public init?(_ format: FileFormat, firstBytes bytes: Span<UInt8>) {
    switch format {
    case .bmp:
      guard let width = bytes.littleUInt(4, at: 18), let height = bytes.littleUInt(4, at: 22) else { return nil }
      self.init(width: width, height: height)
    case .avif, .heic:
      guard let size = BoxSizes.largest(in: bytes) else { return nil }
      self = size
    case .png, .jpeg, .gif, .webp, .tiff, .icon, .svg, .mp4, .quickTime, .webm, .matroska, .avi, .oggVideo, .mp3, .aac,
      .mp4Audio, .ogg, .flac,
      .wave, .pdf, .html, .xml, .text, .zip, .gzip, .sevenZip, .rar, .xz, .bzip2, .zstd, .unknown:
      return nil
    }
  }

  /// The number of pixels, or `Int.max`.
  public var area: Int {
    let (area, overflow) = width.multipliedReportingOverflow(by: height)
    return overflow ? .max : area
  }

  func turned(_ orientation: Orientation?) -> PixelSize {
    guard let orientation, orientation.isQuarterTurn else { return self }
    return PixelSize(width: height, height: width) ?? self
  }
}
