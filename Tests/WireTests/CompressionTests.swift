import TestSupport
import Testing

@testable import ParleyWire

struct CompressionTests {
  static let samples: [[UInt8]] = {
    var random = Seeded(seed: 7692)
    let noise = (0..<70_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    let prose = Array(String(repeating: "ada: the garden is open, bring your own spade. ", count: 3000).utf8)
    let words = ["ada", "grace", "garden", "forum", "{\"id\":", "}", "\n", "日本語"]
    let chat = (0..<20_000).flatMap { _ in Array((words.randomElement(using: &random) ?? "").utf8) }
    return [[], [0], Array("Hello".utf8), noise, prose, chat, [UInt8](repeating: 0, count: 300_000)]
  }()

  private func inflate(
    _ pieces: [[UInt8]], windowBits: Int = 15, limit: Int = 1 << 20
  ) throws(CompressionFault) -> [UInt8] {
    let inflater = try Inflater(windowBits: windowBits)
    var output: [UInt8] = []
    for piece in pieces { try inflater.inflate(piece.span, into: &output, limit: limit) }
    try inflater.finishMessage(into: &output, limit: limit)
    return output
  }

  @Test(arguments: samples.indices) func `a message round-trips, in one piece and in many`(index: Int) throws {
    let plain = Self.samples[index]
    for level in [1, 6, 9] {
      let deflated = try Deflater(level: level).deflate(message: plain.span)
      #expect(try inflate([deflated]) == plain)
      #expect(try inflate(deflated.map { [$0] }) == plain)
    }
  }

  @Test func `messages in one context refer to each other until a reset`() throws {
    let deflater = try Deflater()
    let inflater = try Inflater()
    let plain = Array("the garden is open, bring your own spade".utf8)
    var sizes: [Int] = []
    for _ in 0..<3 {
      let deflated = try deflater.deflate(message: plain.span)
      sizes.append(deflated.count)
      var output: [UInt8] = []
      try inflater.inflate(deflated.span, into: &output, limit: 100)
      try inflater.finishMessage(into: &output, limit: 100)
      #expect(output == plain)
    }
    #expect(sizes[1] < sizes[0] / 2)
    deflater.reset()
    #expect(try deflater.deflate(message: plain.span).count == sizes[0])
  }

  /// RFC 7692 §7.2.3: the encodings of "Hello".
  @Test(
    arguments: [
      [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00],
      [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00],
      [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00],
      [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00],
      // A final block without more data.
      [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00],
    ] as [[UInt8]]) func `the examples of RFC 7692 are inflated`(bytes: [UInt8]) throws
  {
    #expect(try inflate([bytes]) == Array("Hello".utf8))
    #expect(try inflate(bytes.map { [$0] }) == Array("Hello".utf8))
  }

  @Test func `an empty message is always one zero byte`() throws {
    let deflater = try Deflater()
    for _ in 0..<3 { #expect(try deflater.deflate(message: [UInt8]().span) == [0x00]) }
    #expect(try inflate([[0x00]]) == [])
  }

  @Test func `blocks after a final block may refer to data before it`() throws {
    // "Hello" in a final block; then a match of length 5 at distance 5 in a block with fixed codes.
    let first: [UInt8] = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]
    // Bits: 0, 01, length 5 = 0000011, distance 5 = 00100 and one more bit 0, end = 0000000.
    let second = bytes(ofBits: "0" + "10" + "0000011" + "00100" + "0" + "0000000" + "000")
    #expect(try inflate([first + second]) == Array("HelloHello".utf8))
  }

  private func bytes(ofBits bits: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for (index, bit) in bits.enumerated() {
      if index % 8 == 0 { bytes.append(0) }
      if bit == "1" { bytes[index / 8] |= 1 << UInt8(index % 8) }
    }
    return bytes
  }

  @Test(
    arguments: [
      [0x06], [0xff], [0x00, 0x05, 0x00, 0xfa, 0xfe, 0x48], [0xf2, 0x48, 0xcd], [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48],
      [0x00, 0x04, 0x00, 0xfb, 0xff], [0x02], [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff], [],
    ] as [[UInt8]]) func `an incomplete message is refused`(bytes: [UInt8])
  {
    #expect(throws: CompressionFault.malformed) { try inflate([bytes]) }
    #expect(throws: CompressionFault.malformed) { try inflate(bytes.map { [$0] }) }
  }

  @Test func `output does not exceed the limit`() throws {
    let zeros = [UInt8](repeating: 0, count: 10_000_000)
    let bomb = try Deflater(level: 9).deflate(message: zeros.span)
    #expect(bomb.count < 10_000)
    for limit in [0, 1, 255, 1000, 65_536, 1_000_000] {
      for pieces in [[bomb], bomb.map { [$0] }] {
        let inflater = try Inflater()
        var output: [UInt8] = []
        #expect(throws: CompressionFault.tooLong) {
          for piece in pieces { try inflater.inflate(piece.span, into: &output, limit: limit) }
        }
        // The allocator rounds up, large blocks to whole pages.
        #expect(output.capacity <= limit + 4096)
      }
    }
  }

  @Test(arguments: [0, 1, 5, 256, 257, 4096, 16384, 16385, 65536]) func `a message of exactly the limit is accepted`(
    count: Int
  ) throws {
    let plain = [UInt8](repeating: 7, count: count)
    let deflated = try Deflater().deflate(message: plain.span)
    #expect(try inflate([deflated], limit: count) == plain)
    guard count > 0 else { return }
    #expect(throws: CompressionFault.tooLong) { try inflate([deflated], limit: count - 1) }
  }

  @Test func `a sender with a window of 8 bits does not exceed it`() throws {
    let plain = Self.samples[5]
    let small = try Deflater(level: 9, windowBits: 8).deflate(message: plain.span)
    #expect(try inflate(small.map { [$0] }, windowBits: 8) == plain)
    // The same receiver detects a larger window.
    let large = try Deflater(level: 9, windowBits: 10).deflate(message: plain.span)
    #expect(throws: CompressionFault.malformed) { try inflate(large.map { [$0] }, windowBits: 8) }
  }

  @Test(arguments: samples.indices) func `zlib reads our gzip`(index: Int) throws {
    let plain = Self.samples[index]
    #expect(try gunzip(Gzip.compress(plain)) == plain)
    let encoder = try Gzip.Encoder(level: 1)
    var parts: [UInt8] = []
    for start in stride(from: 0, to: plain.count, by: 50_000) {
      parts += try encoder.append(Array(plain[start..<min(start + 50_000, plain.count)]))
      parts += try encoder.flush()
    }
    parts += try encoder.finish()
    #expect(try gunzip(parts) == plain)
  }

  @Test func `flushed data is readable before the end`() throws {
    let encoder = try Gzip.Encoder()
    let sent = try encoder.append(Array("ada".utf8)) + encoder.flush()
    let stream = try ZlibStream(inflating: .gzip, windowBits: 15)
    var output: [UInt8] = []
    _ = stream.turn(sent.span, .sync, into: &output, room: 100)
    #expect(output == Array("ada".utf8))
  }

  private func gunzip(_ bytes: [UInt8]) throws -> [UInt8] {
    let stream = try ZlibStream(inflating: .gzip, windowBits: 15)
    var output: [UInt8] = []
    let (eaten, outcome) = stream.turn(bytes.span, .sync, into: &output, room: 1 << 20)
    #expect(eaten == bytes.count)
    #expect(outcome == .ended)
    return output
  }

  @Test func `mutated streams are read or refused within the limit`() throws {
    var random = Seeded(seed: 1951)
    let inflater = try Inflater()
    let plain = Array(Self.samples[5][..<3000])
    let whole = try Deflater().deflate(message: plain.span)
    for _ in 0..<Fuzz.rounds {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      bytes.removeLast(Int.random(in: 0...bytes.count / 2, using: &random))
      var output: [UInt8] = []
      inflater.reset()
      do throws(CompressionFault) {
        try inflater.inflate(bytes.span, into: &output, limit: 5000)
        try inflater.finishMessage(into: &output, limit: 5000)
        #expect(output.count <= 5000)
      } catch {
        #expect(error != .outOfMemory)
      }
      #expect(output.capacity <= 5000 + 300)
    }
  }
}
