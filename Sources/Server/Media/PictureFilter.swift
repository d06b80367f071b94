/// A picture that comes in piece by piece, without what it says beside the picture: where and when it was taken, with which
/// camera, and how it looked before it was cropped.
public struct PictureFilter: Sendable {
  /// Lengths contradict themselves, or there is no picture.
  public struct Malformed: Error, Sendable, Hashable {
    public init() {}
  }

  /// What a segment or chunk may take that has to be looked at as a whole.
  static let mostHeld = 65_536

  private enum Format: Sendable {
    case jpeg(JPEGFilter)
    case png(PNGFilter)
    case webp(WebPFilter)
  }

  private var format: Format

  /// Nil for formats that are kept as they are.
  public init?(_ format: FileFormat) {
    switch format {
    case .jpeg: self.format = .jpeg(JPEGFilter())
    case .png: self.format = .png(PNGFilter())
    case .webp: self.format = .webp(WebPFilter())
    default: return nil
    }
  }

  /// What is left of this piece, and of what was held back of those before.
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
    }
    return output
  }

  /// After the last piece: how large the picture is.
  public func finish() throws(Malformed) -> PixelSize {
    let size: PixelSize? =
      switch format {
      case .jpeg(let filter): filter.size?.turned(filter.orientation)
      case .png(let filter): filter.size?.turned(filter.orientation)
      case .webp(let filter): filter.size?.turned(filter.orientation)
      }
    guard let size else { throw Malformed() }
    return size
  }
}
