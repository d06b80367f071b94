/// Removes metadata from a streamed picture: location, time, camera, and thumbnails of the picture before cropping.
public struct PictureFilter: Sendable {
  /// Contradictory lengths or no picture.
  public struct Malformed: Error, Sendable, Hashable {
    public init() {}
  }

  /// The maximum size of a buffered segment or chunk.
  static let maxBuffered = 65_536

  private enum Format: Sendable {
    case jpeg(JPEGFilter)
    case png(PNGFilter)
    case webp(WebPFilter)
    case gif(GIFFilter)
  }

  private var format: Format

  /// Nil for formats without a filter.
  public init?(_ format: FileFormat) {
    switch format {
    case .jpeg: self.format = .jpeg(JPEGFilter())
    case .png: self.format = .png(PNGFilter())
    case .webp: self.format = .webp(WebPFilter())
    case .gif: self.format = .gif(GIFFilter())
    case .avif, .heic, .bmp, .tiff, .icon, .svg, .mp4, .quickTime, .webm, .matroska, .avi, .oggVideo, .mp3, .aac,
      .mp4Audio, .ogg, .flac,
      .wave, .pdf, .html, .xml, .text, .zip, .gzip, .sevenZip, .rar, .xz, .bzip2, .zstd, .unknown:
      return nil
    }
  }

  /// Returns the filtered bytes of this piece and of earlier buffered data.
  public mutating func take(_ piece: [UInt8]) throws(Malformed) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(piece.count)
    switch format {
    case .jpeg(var filter):
      format = .jpeg(JPEGFilter())
      try filter.take(piece, &output)
      format = .jpeg(filter)
    case .png(var filter):
      format = .png(PNGFilter())
      try filter.take(piece, &output)
      format = .png(filter)
    case .webp(var filter):
      format = .webp(WebPFilter())
      try filter.take(piece, &output)
      format = .webp(filter)
    case .gif(var filter):
      format = .gif(GIFFilter())
      try filter.take(piece, &output)
      format = .gif(filter)
    }
    return output
  }

  /// Returns the size of the picture, after the last piece.
  public func finish() throws(Malformed) -> PixelSize {
    let size: PixelSize? =
      switch format {
      case .jpeg(let filter): filter.size?.turned(filter.orientation)
      case .png(let filter): filter.size?.turned(filter.orientation)
      case .webp(let filter): filter.size?.turned(filter.orientation)
      case .gif(let filter): filter.size
      }
    guard let size else { throw Malformed() }
    return size
  }
}
