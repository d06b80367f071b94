import TestSupport
import Testing

@testable import Media

@Suite struct FileFormatTests {
  private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
    Photographs.big(content.count + 8, 4) + Array(name.utf8) + content
  }

  private static func brands(_ major: String, _ others: String...) -> [UInt8] {
    box("ftyp", Array(major.utf8) + [0, 0, 0, 0] + others.flatMap { Array($0.utf8) })
  }

  @Test func `the format is detected from the first bytes`() {
    let rows: [([UInt8], FileFormat)] = [
      (Photographs.png(), .png), (Photographs.jpeg(), .jpeg), (Photographs.webp(), .webp),
      (Array("GIF87a".utf8), .gif), (Array("GIF89a".utf8), .gif),
      (Self.brands("avif", "mif1"), .avif), (Self.brands("mif1", "avif"), .avif), (Self.brands("heic"), .heic),
      (Self.brands("mif1", "heic"), .heic), (Self.brands("isom", "mp42"), .mp4), (Self.brands("qt  "), .quickTime),
      (Self.brands("M4A "), .mp4Audio),
      (Array("RIFF\0\0\0\0WAVEfmt ".utf8), .wave), (Array("RIFF\0\0\0\0AVI LIST".utf8), .avi),
      ([0x1a, 0x45, 0xdf, 0xa3, 0x01] + Array("webm".utf8), .webm),
      ([0x1a, 0x45, 0xdf, 0xa3, 0x01] + Array("matroska".utf8), .matroska),
      (Array("OggS".utf8) + [UInt8](repeating: 0, count: 24) + [0x01] + Array("vorbis".utf8), .ogg),
      (Array("OggS".utf8) + [UInt8](repeating: 0, count: 24) + [0x80] + Array("theora".utf8), .oggVideo),
      (Array("fLaC".utf8), .flac), (Array("ID3".utf8), .mp3), ([0xff, 0xfb, 0x90, 0x64], .mp3),
      ([0xff, 0xf1, 0x50, 0x80], .aac), ([0xff, 0xfe, 0x00, 0x00], .unknown),
      (Array("%PDF-1.7".utf8), .pdf), (Array("PK\u{3}\u{4}".utf8), .zip), ([0x1f, 0x8b, 8, 0], .gzip),
      (Array("hello\n".utf8), .text), (Array("Grüße 🌻".utf8), .text), ([0xef, 0xbb, 0xbf] + Array("x".utf8), .text),
      (Array("Grüße 🌻".utf8.dropLast(2)), .text), (Array("a < b".utf8), .text),
      (Array("<!DOCTYPE html><p>".utf8), .html), (Array(" \n<SCRIPT>alert(1)</SCRIPT>".utf8), .html),
      (Array("<!-- x --><img src=x>".utf8), .html), (Array("<svg onload=alert(1)>".utf8), .svg),
      (Array("<?xml version=\"1.0\"?>\n<SVG>".utf8), .svg), (Array("<?xml version=\"1.0\"?><feed/>".utf8), .xml),
      ([], .unknown), ([0], .unknown), ([0xc0, 0x80], .unknown), ([0xed], .text), (Array("a\0b".utf8), .unknown),
      (Array("RIFF".utf8), .text), ([0xff, 0xd8], .unknown), (Array("ftyp".utf8), .text),
    ]
    for (bytes, format) in rows { #expect(FileFormat.sniff(bytes.span) == format, "\(format): \(bytes.prefix(24))") }
  }

  @Test func `active content is never shown inline`() {
    for format in [FileFormat.html, .svg, .xml, .pdf, .text, .heic, .unknown] { #expect(!format.isShownInline) }
    for format in FileFormat.allCases where format.isShownInline {
      #expect([.image, .video, .audio].contains(format.kind), "\(format)")
    }
    for format in FileFormat.allCases where format.isPicture { #expect(format.isShownInline && format.kind == .image) }
  }

  @Test func `the size of some formats is read from the first bytes`() {
    let sizes =
      Self.box("ispe", [0, 0, 0, 0] + Photographs.big(512, 4) + Photographs.big(512, 4))
      + Self.box("ispe", [0, 0, 0, 0] + Photographs.big(4_032, 4) + Photographs.big(3_024, 4))
    let properties = { (turn: [UInt8]) in
      Self.brands("heic")
        + Self.box(
          "meta",
          [0, 0, 0, 0] + Self.box("hdlr", [1, 2, 3])
            + Self.box("iprp", Self.box("ipco", sizes + turn)))
    }
    let rows: [(FileFormat, [UInt8], PixelSize?)] = [
      (.heic, properties([]), PixelSize(width: 4_032, height: 3_024)),
      (.heic, properties(Self.box("irot", [1])), PixelSize(width: 3_024, height: 4_032)),
      (.avif, Self.brands("avif"), nil), (.pdf, Array("%PDF-".utf8), nil),
    ]
    for (format, bytes, size) in rows { #expect(PixelSize(format, firstBytes: bytes.span) == size, "\(format)") }
    let whole = properties(Self.box("irot", [1]))
    for length in 0..<whole.count { _ = PixelSize(.heic, firstBytes: Array(whole[..<length]).span) }
    var random = Seeded(seed: 3)
    for _ in 0..<2_000 {
      var bytes = whole
      for _ in 0..<4 {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = PixelSize(.avif, firstBytes: bytes.span)
      _ = FileFormat.sniff(bytes.span)
    }
  }
}
