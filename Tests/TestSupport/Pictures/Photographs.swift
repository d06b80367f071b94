// Hand-made pictures with named parts, so that the expected output of a filter is the list of the kept parts.

public enum Photographs {
  /// Text that must not be in served pictures.
  public static let secret = Array("48.2082N 16.3738E".utf8)

  public static func big(_ value: Int, _ length: Int) -> [UInt8] {
    (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  public static func little(_ value: Int, _ length: Int) -> [UInt8] { big(value, length).reversed() }

  /// An Exif block with a location, a camera and an orientation. Bytes after the directory are not read.
  public static func exif(orientation: Int, isLittle: Bool = false) -> [UInt8] {
    let number = { (value: Int, length: Int) in isLittle ? little(value, length) : big(value, length) }
    var bytes = Array((isLittle ? "II" : "MM").utf8) + number(42, 2) + number(8, 4) + number(3, 2)
    bytes += number(0x010f, 2) + number(2, 2) + number(4, 4) + Array("Cam\0".utf8)
    bytes += number(0x0112, 2) + number(3, 2) + number(1, 4) + number(orientation, 2) + [0, 0]
    bytes += number(0x8825, 2) + number(4, 2) + number(1, 4) + number(50, 4) + number(0, 4)
    return bytes + secret
  }

  // MARK: JPEG

  public static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xff, marker] + big(content.count + 2, 2) + content
  }

  public static let start: [UInt8] = [0xff, 0xd8]
  public static let end: [UInt8] = [0xff, 0xd9]
  public static let jfif = segment(0xe0, Array("JFIF\0".utf8) + [1, 2, 1, 0, 72, 0, 72, 0, 0])
  public static let colours = segment(0xe2, Array("ICC_PROFILE\0".utf8) + [1, 1] + Array("profile".utf8))
  public static let adobe = segment(0xee, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1])
  public static let table = segment(0xdb, [0] + [UInt8](repeating: 16, count: 64))
  public static let huffman = segment(0xc4, [0] + [UInt8](repeating: 1, count: 16))
  public static let frame = segment(0xc2, [8] + big(480, 2) + big(640, 2) + [1, 1, 0x11, 0])
  /// A scan with a stuffed FF and restart markers.
  public static let scan =
    segment(0xda, [1, 1, 0, 0, 63, 0]) + [1, 2, 0xff, 0x00, 3, 0xff, 0xd0, 4, 0xff, 0xd7, 5, 6, 7]

  /// The Exif segment of served pictures: the orientation only.
  public static func plainExif(_ orientation: UInt8) -> [UInt8] {
    segment(
      0xe1,
      Array("Exif\0\0".utf8) + [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]
        + [0, 0, 0, 0])
  }

  public static func jpeg(orientation: Int = 6, isLittle: Bool = false) -> [UInt8] {
    let exif = segment(0xe1, Array("Exif\0\0".utf8) + exif(orientation: orientation, isLittle: isLittle))
    let words = segment(0xe1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + secret)
    let thumbnail = segment(0xe0, Array("JFXX\0".utf8) + secret)
    let others = segment(0xe2, Array("MPF\0".utf8) + secret) + segment(0xed, Array("Photoshop 3.0\0".utf8) + secret)
    let comment = segment(0xfe, secret)
    return start + jfif + thumbnail + exif + words + colours + others + adobe + comment + [0xff] + table + frame
      + huffman + scan + huffman + comment + scan + end + start + exif + end + secret
  }

  public static func servedJPEG(orientation: UInt8? = 6) -> [UInt8] {
    start + jfif + (orientation.map(plainExif) ?? []) + colours + adobe + table + frame + huffman + scan + huffman
      + scan
      + end
  }

  // MARK: PNG

  public static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    big(content.count, 4) + Array(name.utf8) + content + big(Int(checksum(Array(name.utf8) + content)), 4)
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var crc = UInt32.max
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc % 2 == 1 ? (crc / 2) ^ 0xedb8_8320 : crc / 2 }
    }
    return ~crc
  }

  public static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
  public static let header = chunk("IHDR", big(640, 4) + big(480, 4) + [8, 2, 0, 0, 0])

  public static func png(orientation: Int = 6) -> [UInt8] {
    signature + header + chunk("tEXt", Array("GPS\0".utf8) + secret) + chunk("iCCP", [1, 2, 3])
      + chunk("eXIf", exif(orientation: orientation)) + chunk("tIME", [7, 234, 11, 22, 0, 0, 0]) + chunk("zTXt", secret)
      + chunk("prVt", secret) + chunk("IDAT", [9, 8, 7, 6]) + chunk("iTXt", secret) + chunk("IDAT", [5, 4])
      + chunk("IEND", []) + secret
  }

  public static func servedPNG(orientation: UInt8? = 6) -> [UInt8] {
    let exif = orientation.map { chunk("eXIf", Array(plainExif($0).dropFirst(10))) } ?? []
    return signature + header + chunk("iCCP", [1, 2, 3]) + exif + chunk("IDAT", [9, 8, 7, 6]) + chunk("IDAT", [5, 4])
      + chunk("IEND", [])
  }

  // MARK: WebP

  public static func riff(_ chunks: [UInt8]) -> [UInt8] {
    Array("RIFF".utf8) + little(chunks.count + 4, 4) + Array("WEBP".utf8) + chunks
  }

  public static func part(_ name: String, _ content: [UInt8]) -> [UInt8] {
    Array(name.utf8) + little(content.count, 4) + content + (content.count % 2 == 1 ? [0] : [])
  }

  /// 640 × 480.
  public static let lossy = part("VP8 ", [0x30, 1, 0, 0x9d, 0x01, 0x2a] + little(640, 2) + little(480, 2) + [1, 2, 3])
  public static let lossless = part("VP8L", [0x2f] + little(639 | 479 << 14, 4) + [1, 2, 3])

  public static func extended(_ flags: UInt8) -> [UInt8] {
    part("VP8X", [flags, 0, 0, 0] + little(639, 3) + little(479, 3))
  }

  public static func webp(orientation: Int = 6) -> [UInt8] {
    riff(
      extended(0x2c) + part("ICCP", [1, 2, 3]) + lossy + part("EXIF", exif(orientation: orientation))
        + part("XMP ", secret) + part("mine", secret)) + secret
  }

  public static func servedWebP(orientation: UInt8 = 6) -> [UInt8] {
    let tiff = Array(plainExif(orientation).dropFirst(10))
    let length = exif(orientation: 1).count
    let nothing = [UInt8](repeating: 0, count: secret.count)
    return riff(
      extended(0x28) + part("ICCP", [1, 2, 3]) + lossy
        + part("EXIF", tiff + [UInt8](repeating: 0, count: length - tiff.count)) + part("XMP ", nothing)
        + part("mine", nothing))
  }

  // MARK: GIF

  /// A sequence of sub-blocks.
  public static func blocks(_ contents: [[UInt8]]) -> [UInt8] {
    contents.flatMap { [UInt8($0.count)] + $0 } + [0]
  }

  private static func gifScreen(_ version: String) -> [UInt8] {
    // A table of two colors.
    Array(version.utf8) + little(640, 2) + little(480, 2) + [0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
  }

  private static let gifLoop = [0x21, 0xff] + blocks([Array("NETSCAPE2.0".utf8), [1, 0, 0]])
  private static let gifFrames: [UInt8] =
    [0x21, 0xf9] + blocks([[0, 10, 0, 0]]) + [0x2c] + little(0, 4) + little(640, 2) + little(480, 2) + [0, 2]
    + blocks([[1, 2, 3], [UInt8](repeating: 0x3b, count: 255)]) + [0x21, 0xf9] + blocks([[0, 10, 0, 0]])
    // With a table of four colors.
    + [0x2c] + little(0, 4) + little(2, 2) + little(2, 2) + [0x81] + [UInt8](repeating: 0x21, count: 12) + [2]
    + blocks([[4, 5]])

  public static func gif() -> [UInt8] {
    let comment = [0x21, 0xfe] + blocks([secret, secret])
    let xmp = [0x21, 0xff] + blocks([Array("XMP DataXMP".utf8), secret])
    let unknown = [0x21, 0x42] + blocks([secret])
    return gifScreen("GIF89a") + xmp + comment + gifLoop + unknown + gifFrames + comment + [0, 0x3b] + comment + secret
  }

  public static let servedGIF = gifScreen("GIF89a") + gifLoop + gifFrames + [0x3b]

  // MARK: TIFF

  /// Eight bytes of a picture, Exif and location directories with values after them, and the directory of the picture
  /// at the end. With `isRaw`, it has the color pattern of a sensor.
  public static func tiff(isLittle: Bool = false, isRaw: Bool = false) -> [UInt8] {
    let number = { (value: Int, length: Int) in isLittle ? little(value, length) : big(value, length) }
    let entry = { (tag: Int, type: Int, count: Int, value: [UInt8]) in
      number(tag, 2) + number(type, 2) + number(count, 4) + value
    }
    let short = { (value: Int) in number(value, 2) + [0, 0] }
    let directory = { (entries: [[UInt8]]) in number(entries.count, 2) + entries.flatMap(\.self) + number(0, 4) }
    let texts = 16
    let camera = texts + 3 * secret.count
    let location = camera + 2 + 2 * 12 + 4
    let picture = location + 2 + 12 + 4
    let exif = directory([entry(0x9003, 2, secret.count, number(texts, 4)), entry(0x9207, 3, 1, short(5))])
    let gps = directory([entry(0x001c, 7, secret.count, number(texts + secret.count, 4))])
    var entries = [
      entry(0x0100, 3, 1, short(640)), entry(0x0101, 3, 1, short(480)),
      entry(0x010f, 2, secret.count, number(texts + 2 * secret.count, 4)), entry(0x0111, 4, 1, number(8, 4)),
      entry(0x0112, 3, 1, short(6)), entry(0x0117, 4, 1, number(8, 4)),
    ]
    if isRaw { entries.append(entry(0x828e, 1, 4, [0, 1, 1, 2])) }
    entries += [entry(0x8769, 4, 1, number(camera, 4)), entry(0x8825, 4, 1, number(location, 4))]
    return Array((isLittle ? "II" : "MM").utf8) + number(42, 2) + number(picture, 4) + [1, 2, 3, 4, 5, 6, 7, 8] + secret
      + secret + secret + exif + gps + directory(entries)
  }
}
