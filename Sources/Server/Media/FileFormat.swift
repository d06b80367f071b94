/// The format of a file, detected from its bytes. The client's media type and the file name are ignored: browsers get
/// this type with `nosniff`.
public enum FileFormat: String, Sendable, Hashable, CaseIterable {
  case png = "image/png"
  case jpeg = "image/jpeg"
  case gif = "image/gif"
  case webp = "image/webp"
  case avif = "image/avif"
  case heic = "image/heic"
  case bmp = "image/bmp"
  case tiff = "image/tiff"
  case icon = "image/vnd.microsoft.icon"
  case svg = "image/svg+xml"
  case mp4 = "video/mp4"
  case quickTime = "video/quicktime"
  case webm = "video/webm"
  case matroska = "video/matroska"
  case avi = "video/vnd.avi"
  case oggVideo = "video/ogg"
  case mp3 = "audio/mpeg"
  case aac = "audio/aac"
  case mp4Audio = "audio/mp4"
  case ogg = "audio/ogg"
  case flac = "audio/flac"
  case wave = "audio/wav"
  case pdf = "application/pdf"
  case html = "text/html"
  case xml = "application/xml"
  case text = "text/plain"
  case zip = "application/zip"
  case gzip = "application/gzip"
  case sevenZip = "application/x-7z-compressed"
  case rar = "application/vnd.rar"
  case xz = "application/x-xz"
  case bzip2 = "application/x-bzip2"
  case zstd = "application/zstd"
  case unknown = "application/octet-stream"

  public var mimeType: String { rawValue }

  /// The kind of file in the UI.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case image, video, audio, text, document, archive, other
  }

  public var kind: Kind {
    switch self {
    case .png, .jpeg, .gif, .webp, .avif, .heic, .bmp, .tiff, .icon: .image
    case .mp4, .quickTime, .webm, .matroska, .avi, .oggVideo: .video
    case .mp3, .aac, .mp4Audio, .ogg, .flac, .wave: .audio
    case .text: .text
    // SVG can run scripts and is therefore a document.
    case .pdf, .svg, .html, .xml: .document
    case .zip, .gzip, .sevenZip, .rar, .xz, .bzip2, .zstd: .archive
    case .unknown: .other
    }
  }

  /// Whether a browser may display the file inline: images, audio and video with a decoder in every browser. Other
  /// files are downloaded.
  public var isShownInline: Bool {
    switch self {
    case .png, .jpeg, .gif, .webp, .avif, .bmp, .icon, .mp4, .webm, .oggVideo, .mp3, .aac, .mp4Audio, .ogg, .flac,
      .wave:
      true
    case .heic, .tiff, .svg, .quickTime, .matroska, .avi, .pdf, .html, .xml, .text, .zip, .gzip, .sevenZip, .rar, .xz,
      .bzip2, .zstd, .unknown:
      false
    }
  }

  /// Whether the file can be an avatar or site icon: an image that every browser displays.
  public var isPicture: Bool { kind == .image && isShownInline && self != .bmp && self != .icon }

  /// The number of leading bytes that `sniff` uses.
  public static let bytesToSniff = 4_096

  /// Detects the format from the first `bytesToSniff` bytes, or the whole file if shorter.
  public static func sniff(_ bytes: Span<UInt8>) -> FileFormat {
    for (start, format) in signatures where bytes.has(start, at: 0) { return format }
    return riff(bytes) ?? boxes(bytes) ?? video(bytes) ?? audio(bytes) ?? PlainText.format(of: bytes) ?? .unknown
  }

  private static let signatures: [([UInt8], FileFormat)] = [
    ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], .png),
    ([0xff, 0xd8, 0xff], .jpeg),
    (Array("GIF87a".utf8), .gif), (Array("GIF89a".utf8), .gif),
    (Array("%PDF-".utf8), .pdf),
    ([0x50, 0x4b, 0x03, 0x04], .zip), ([0x50, 0x4b, 0x05, 0x06], .zip),
    ([0x1f, 0x8b, 0x08], .gzip),
    ([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], .sevenZip),
    (Array("Rar!".utf8) + [0x1a, 0x07], .rar),
    ([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], .xz),
    (Array("BZh".utf8), .bzip2),
    ([0x28, 0xb5, 0x2f, 0xfd], .zstd),
    ([0x00, 0x00, 0x01, 0x00], .icon),
    ([0x49, 0x49, 0x2a, 0x00], .tiff), ([0x4d, 0x4d, 0x00, 0x2a], .tiff),
    (Array("fLaC".utf8), .flac),
    (Array("ID3".utf8), .mp3),
  ]

  private static func riff(_ bytes: Span<UInt8>) -> FileFormat? {
    guard bytes.has("RIFF", at: 0) else { return nil }
    if bytes.has("WEBP", at: 8) { return .webp }
    if bytes.has("WAVE", at: 8) { return .wave }
    return bytes.has("AVI ", at: 8) ? .avi : nil
  }

  /// ISO 14496-12 §4.3: the first box lists the compatible brands.
  private static func boxes(_ bytes: Span<UInt8>) -> FileFormat? {
    guard bytes.has("ftyp", at: 4), let length = bytes.uint32(at: 0), length >= 12 else { return nil }
    let end = min(length, bytes.count)
    // The major brand, its version, and the compatible brands.
    let offsets = [8] + stride(from: 16, to: max(16, end - 3), by: 4)
    let brands = offsets.compactMap { bytes.uint32(at: $0) }
    if brands.contains(where: { pictures[$0] == .avif }) { return .avif }
    if brands.contains(where: { pictures[$0] == .heic }) { return .heic }
    if bytes.has("qt  ", at: 8) { return .quickTime }
    return bytes.has("M4A ", at: 8) || bytes.has("M4B ", at: 8) ? .mp4Audio : .mp4
  }

  private static let pictures: [Int: FileFormat] = {
    var pictures: [Int: FileFormat] = [:]
    for brand in ["avif", "avis"] { pictures[number(brand)] = .avif }
    for brand in ["heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"] { pictures[number(brand)] = .heic }
    return pictures
  }()

  private static func number(_ name: String) -> Int { name.utf8.reduce(0) { $0 << 8 | Int($1) } }

  private static func video(_ bytes: Span<UInt8>) -> FileFormat? {
    if bytes.has([0x1a, 0x45, 0xdf, 0xa3], at: 0) {
      return (4..<64).contains { bytes.has("webm", at: $0) } ? .webm : .matroska
    }
    guard bytes.has("OggS", at: 0) else { return nil }
    return bytes.has([0x80] + Array("theora".utf8), at: 28) ? .oggVideo : .ogg
  }

  /// MPEG audio frames: eleven bits set, then a valid version, layer and rates.
  private static func audio(_ bytes: Span<UInt8>) -> FileFormat? {
    guard bytes.count >= 4, bytes[0] == 0xff else { return nil }
    if bytes[1] & 0xf6 == 0xf0 { return bytes[2] & 0x3c < 0x34 ? .aac : nil }
    let hasRates = bytes[2] & 0xf0 != 0xf0 && bytes[2] & 0x0c != 0x0c
    return bytes[1] & 0xe6 == 0xe2 && bytes[1] & 0x18 != 0x08 && hasRates ? .mp3 : nil
  }
}

/// Distinguishes plain text, HTML, SVG, XML and binary data.
private enum PlainText {
  static func format(of bytes: Span<UInt8>) -> FileFormat? {
    guard bytes.count > 0, isText(bytes) else { return nil }
    var start = bytes.has([0xef, 0xbb, 0xbf], at: 0) ? 3 : 0
    while start < bytes.count, [9, 10, 12, 13, 32].contains(bytes[start]) { start += 1 }
    guard start < bytes.count, bytes[start] == UInt8(ascii: "<") else { return .text }
    if contains(bytes, "<svg") { return .svg }
    if tags.contains(where: { contains(bytes, $0) }) { return .html }
    return bytes.has("<?xml", at: start) ? .xml : .text
  }

  /// Tags that a sniffing browser interprets as HTML.
  private static let tags = [
    "<!doctype html", "<html", "<head", "<body", "<script", "<iframe", "<title", "<table", "<style", "<div", "<h1",
    "<a ",
    "<p>", "<br", "<img", "<form", "<!--",
  ]

  /// Ignores ASCII case.
  private static func contains(_ bytes: Span<UInt8>, _ word: String) -> Bool {
    let word = Array(word.utf8)
    guard bytes.count >= word.count else { return false }
    return (0...(bytes.count - word.count)).contains { at in
      word.indices.allSatisfy { index in
        let byte = bytes[at + index]
        return (0x41...0x5a).contains(byte) ? byte | 0x20 == word[index] : byte == word[index]
      }
    }
  }

  /// UTF-8 without control characters; the last character may be truncated.
  private static func isText(_ bytes: Span<UInt8>) -> Bool {
    var index = 0
    while index < bytes.count {
      let first = bytes[index]
      if first < 0x80 {
        guard first >= 32 && first != 127 || (9...13).contains(first) else { return false }
        index += 1
        continue
      }
      let (length, minimum): (Int, UInt8) =
        switch first {
        case 0xc2...0xdf: (2, 0x80)
        case 0xe0: (3, 0xa0)
        case 0xe1...0xef: (3, 0x80)
        case 0xf0: (4, 0x90)
        case 0xf1...0xf4: (4, 0x80)
        default: (0, 0)
        }
      guard length > 0 else { return false }
      for offset in 1..<length where index + offset < bytes.count {
        let byte = bytes[index + offset]
        guard byte & 0xc0 == 0x80, offset > 1 || byte >= minimum else { return false }
      }
      index += length
    }
    return true
  }
}
