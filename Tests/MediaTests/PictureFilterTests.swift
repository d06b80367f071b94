import TestSupport
import Testing

@testable import Media

@Suite struct PictureFilterTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let format: FileFormat
    let bytes: [UInt8]
    let served: [UInt8]
    let isTurned: Bool
    var testDescription: String { "\(format)" }
  }

  static let rows = [
    Row(format: .jpeg, bytes: Photographs.jpeg(), served: Photographs.servedJPEG(), isTurned: true),
    Row(format: .jpeg, bytes: Photographs.jpeg(isLittle: true), served: Photographs.servedJPEG(), isTurned: true),
    Row(
      format: .jpeg, bytes: Photographs.jpeg(orientation: 3), served: Photographs.servedJPEG(orientation: 3),
      isTurned: false),
    Row(
      format: .jpeg, bytes: Photographs.jpeg(orientation: 1), served: Photographs.servedJPEG(orientation: nil),
      isTurned: false
    ),
    Row(
      format: .jpeg, bytes: Photographs.jpeg(orientation: 99), served: Photographs.servedJPEG(orientation: nil),
      isTurned: false),
    Row(format: .png, bytes: Photographs.png(), served: Photographs.servedPNG(), isTurned: true),
    Row(
      format: .png, bytes: Photographs.png(orientation: 1), served: Photographs.servedPNG(orientation: nil),
      isTurned: false),
    Row(format: .webp, bytes: Photographs.webp(), served: Photographs.servedWebP(), isTurned: true),
    Row(
      format: .webp, bytes: Photographs.webp(orientation: 1), served: Photographs.servedWebP(orientation: 1),
      isTurned: false),
    Row(
      format: .webp, bytes: Photographs.riff(Photographs.lossless), served: Photographs.riff(Photographs.lossless),
      isTurned: false),
    Row(
      format: .webp, bytes: Photographs.riff(Photographs.lossy), served: Photographs.riff(Photographs.lossy),
      isTurned: false),
    Row(format: .gif, bytes: Photographs.gif(), served: Photographs.servedGIF, isTurned: false),
  ]

  /// The filter's output and size for these pieces.
  static func served(_ format: FileFormat, _ pieces: [[UInt8]]) throws -> (bytes: [UInt8], size: PixelSize) {
    var filter = try #require(PictureFilter(format))
    var output: [UInt8] = []
    for piece in pieces { output += try filter.take(piece) }
    return (output, try filter.finish())
  }

  @Test(arguments: rows)
  func `only the picture, its colors and its orientation remain`(row: Row) throws {
    let (served, size) = try Self.served(row.format, [row.bytes])
    #expect(served == row.served)
    #expect(size == (row.isTurned ? PixelSize(width: 480, height: 640) : PixelSize(width: 640, height: 480)))
    #expect(!Self.contains(served, Photographs.secret))
    #expect(FileFormat.sniff(row.bytes.span) == row.format && FileFormat.sniff(served.span) == row.format)
  }

  @Test(arguments: rows)
  func `the output does not depend on the pieces`(row: Row) throws {
    for index in 0...row.bytes.count {
      let pieces = [Array(row.bytes[..<index]), Array(row.bytes[index...])]
      #expect(try Self.served(row.format, pieces).bytes == row.served, "cut at \(index)")
    }
    #expect(try Self.served(row.format, row.bytes.map { [$0] }).bytes == row.served)
  }

  @Test(arguments: rows)
  func `filtering is idempotent`(row: Row) throws {
    #expect(try Self.served(row.format, [row.served]).bytes == row.served)
  }

  @Test(arguments: rows)
  func `a truncated picture produces a prefix of the output or is rejected`(row: Row) throws {
    var hasSize = false
    for length in 0..<row.bytes.count {
      do {
        let (served, _) = try Self.served(row.format, [Array(row.bytes[..<length])])
        #expect(row.served.starts(with: served), "cut to \(length)")
        hasSize = true
      } catch is PictureFilter.Malformed {
        #expect(!hasSize, "cut to \(length)")
      }
    }
    #expect(hasSize)
  }

  @Test func `contradictory lengths are rejected`() {
    let short = Photographs.start + [0xff, 0xdb, 0, 1]
    let secondHeader = Photographs.signature + Photographs.header + Photographs.header
    let endWithContent = Photographs.signature + Photographs.header + Photographs.chunk("IEND", [1])
    let noHeader = Photographs.signature + Photographs.chunk("IDAT", [1])
    let endless = Photographs.signature + Photographs.header + [0xff, 0xff, 0xff, 0xff] + Array("IDAT".utf8)
    let tooLong = Array("RIFF".utf8) + Photographs.little(20, 4) + Array("WEBPVP8 ".utf8) + Photographs.little(1_000, 4)
    let oddExtension = Photographs.riff(Photographs.part("VP8X", [0, 0, 0, 0]))
    let withoutFrame = Photographs.start + Photographs.jfif + Photographs.end
    let rows: [(FileFormat, [UInt8])] = [
      (.jpeg, short), (.jpeg, withoutFrame), (.jpeg, []), (.png, secondHeader), (.png, endWithContent),
      (.png, noHeader), (.png, endless), (.png, Photographs.signature), (.webp, tooLong), (.webp, oddExtension),
      (.gif, Array("GIF89a".utf8) + [UInt8](repeating: 0, count: 7)),
      (.gif, Array(Photographs.servedGIF.dropLast()) + [0x42]), (.gif, []),
      (.gif, Array(Photographs.servedGIF.dropLast()) + [0x21, 0xff, 3] + Array("XMP DataXMP".utf8)),
      (.webp, Photographs.riff([])), (.webp, Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBP".utf8)),
    ]
    for (format, bytes) in rows {
      #expect(throws: PictureFilter.Malformed.self, "\(format) \(bytes)") { try Self.served(format, [bytes]) }
    }
  }

  @Test func `endless segments take no memory`() throws {
    var filter = try #require(PictureFilter(.jpeg))
    _ = try filter.take(Photographs.start)
    let comment = Photographs.segment(0xfe, [UInt8](repeating: 65, count: 65_533))
    for _ in 0..<2_000 { #expect(try filter.take(comment).isEmpty) }
    var chunks = try #require(PictureFilter(.png))
    _ = try chunks.take(Photographs.signature + Photographs.header + Photographs.big(1 << 30, 4) + Array("tEXt".utf8))
    let piece = [UInt8](repeating: 65, count: 1 << 16)
    for _ in 0..<2_000 { #expect(try chunks.take(piece).isEmpty) }
  }

  @Test func `oversized Exif data is dropped unread`() throws {
    let block = Photographs.exif(orientation: 6) + [UInt8](repeating: 65, count: 70_000)
    let png =
      Photographs.signature + Photographs.header + Photographs.chunk("eXIf", block) + Photographs.chunk("IEND", [])
    let plain = Photographs.signature + Photographs.header + Photographs.chunk("IEND", [])
    #expect(try Self.served(.png, [png]).bytes == plain)
    let webp = Photographs.riff(Photographs.extended(0x08) + Photographs.lossy + Photographs.part("EXIF", block))
    let served = try Self.served(.webp, [webp]).bytes
    #expect(served.count == webp.count && served.suffix(block.count).allSatisfy { $0 == 0 })
  }

  @Test func `the outcome for a mutated picture does not depend on the pieces`() throws {
    var random = Seeded(seed: 7)
    var refused = 0
    for round in 0..<3_000 {
      let row = Self.rows[round % Self.rows.count]
      var bytes = row.bytes
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let index = Int.random(in: 2..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: index)
        default: bytes.insert([0, 0xff, 0x7f].randomElement(using: &random) ?? 0, at: index)
        }
      }
      let index = Int.random(in: 0...bytes.count, using: &random)
      let whole = Result { try Self.served(row.format, [bytes]).bytes }
      let parts = Result { try Self.served(row.format, [Array(bytes[..<index]), Array(bytes[index...])]).bytes }
      switch (whole, parts) {
      case (.success(let one), .success(let other)):
        #expect(one == other)
        #expect(one.count <= bytes.count + 64)
      case (.failure, .failure): refused += 1
      default: Issue.record("round \(round) depends on how it is cut")
      }
    }
    #expect((1..<3_000).contains(refused))
  }

  private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    guard bytes.count >= part.count else { return false }
    return (0...(bytes.count - part.count)).contains { bytes[$0..<($0 + part.count)].elementsEqual(part) }
  }
}
