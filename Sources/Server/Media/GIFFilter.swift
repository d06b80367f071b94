// GIF (GIF89a specification): a screen with a color table, then blocks until a trailer. Extensions and image data are
// sequences of sub-blocks: a length, data of that length, and a length of zero at the end.

struct GIFFilter: Sendable {
  private enum Stage: Sendable {
    case screen, introducer
    /// After 21: the label of an extension.
    case label
    /// The first sub-block of an application extension: its length and name.
    case application
    /// After 2C: the descriptor of an image.
    case image
    /// The bytes of a color table and, before image data, the size of its codes.
    case table(Int)
    /// The length of a sub-block.
    case length(isKept: Bool)
    case data(Int, isKept: Bool)
    case done
  }

  private static let screenBytes = 13
  private static let descriptorBytes = 10
  /// An introducer, a label, a length and a name of eleven bytes (§26).
  private static let applicationBytes = 14
  /// The applications that store the number of repetitions of an animation.
  private static let loops = [Array("NETSCAPE2.0".utf8), Array("ANIMEXTS1.0".utf8)]

  private var stage = Stage.screen
  private var buffer: [UInt8] = []
  /// Whether image data follows the table, not a block.
  private var isImage = false
  private(set) var size: PixelSize?

  mutating func take(_ piece: [UInt8], _ output: inout [UInt8]) throws(PictureFilter.Malformed) {
    var index = 0
    while index < piece.count {
      switch stage {
      case .screen:
        guard buffer.gather(piece, from: &index, until: Self.screenBytes) else { return }
        if let width = buffer.span.littleUInt(2, at: 6), let height = buffer.span.littleUInt(2, at: 8) {
          size = PixelSize(width: width, height: height)
        }
        beginTable(buffer[10], extra: 0)
        write(&output)
      case .introducer:
        try begin(piece[index], &output)
        index += 1
      case .label:
        guard buffer.gather(piece, from: &index, until: 2) else { return }
        beginExtension(buffer[1], &output)
      case .application:
        guard buffer.gather(piece, from: &index, until: Self.applicationBytes) else { return }
        guard buffer[2] == 11 else { throw PictureFilter.Malformed() }
        let isKept = Self.loops.contains(Array(buffer.dropFirst(3)))
        stage = .length(isKept: isKept)
        if isKept { write(&output) } else { buffer = [] }
      case .image:
        guard buffer.gather(piece, from: &index, until: Self.descriptorBytes) else { return }
        isImage = true
        beginTable(buffer[9], extra: 1)
        write(&output)
      case .table(let count):
        let end = min(index + count, piece.count)
        output += piece[index..<end]
        let remaining = count - (end - index)
        index = end
        stage = remaining > 0 ? .table(remaining) : isImage ? .length(isKept: true) : .introducer
      case .length(let isKept):
        let length = Int(piece[index])
        if isKept { output.append(piece[index]) }
        index += 1
        stage = length > 0 ? .data(length, isKept: isKept) : .introducer
      case .data(let count, let isKept):
        let end = min(index + count, piece.count)
        if isKept { output += piece[index..<end] }
        let remaining = count - (end - index)
        index = end
        stage = remaining > 0 ? .data(remaining, isKept: isKept) : .length(isKept: isKept)
      // Data after the end.
      case .done: return
      }
    }
  }

  private mutating func begin(_ introducer: UInt8, _ output: inout [UInt8]) throws(PictureFilter.Malformed) {
    isImage = false
    switch introducer {
    // Some programs write an additional end of a sequence.
    case 0x00: break
    case 0x21:
      buffer = [introducer]
      stage = .label
    case 0x2c:
      buffer = [introducer]
      stage = .image
    case 0x3b:
      output.append(introducer)
      stage = .done
    default: throw PictureFilter.Malformed()
    }
  }

  private mutating func beginExtension(_ label: UInt8, _ output: inout [UInt8]) {
    switch label {
    // Graphic control and plain text are parts of the picture.
    case 0xf9, 0x01:
      write(&output)
      stage = .length(isKept: true)
    case 0xff: stage = .application
    // Comments, and extensions that the specification does not have.
    default:
      buffer = []
      stage = .length(isKept: false)
    }
  }

  /// §18 and §20: the lowest three bits are the size of a color table, the highest one whether there is one.
  private mutating func beginTable(_ packed: UInt8, extra: Int) {
    let count = (packed & 0x80 == 0 ? 0 : 3 << (Int(packed & 7) + 1)) + extra
    stage = count > 0 ? .table(count) : .introducer
  }

  private mutating func write(_ output: inout [UInt8]) {
    output += buffer
    buffer = []
  }
}
