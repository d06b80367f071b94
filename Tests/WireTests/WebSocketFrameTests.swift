import Testing

@testable import ParleyWire

struct WebSocketFrameTests {
  typealias Header = WebSocketFrame.Header

  static let headers: [(bytes: [UInt8], header: Header)] = [
    // RFC 6455 §5.7.
    ([0x81, 0x05], Header(opcode: .text, length: 5)),
    ([0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d], Header(opcode: .text, mask: Mask(0x37, 0xfa, 0x21, 0x3d), length: 5)),
    ([0x01, 0x03], Header(opcode: .text, isFinal: false, length: 3)),
    ([0x80, 0x02], Header(opcode: .continuation, length: 2)),
    ([0x89, 0x05], Header(opcode: .ping, length: 5)),
    ([0x82, 0x7e, 0x01, 0x00], Header(opcode: .binary, length: 256)),
    ([0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0], Header(opcode: .binary, length: 65536)),
    // The limits of the three length encodings, and RSV1.
    ([0x82, 0x7d], Header(opcode: .binary, length: 125)),
    ([0x82, 0x7e, 0, 126], Header(opcode: .binary, length: 126)),
    ([0x82, 0x7e, 0xff, 0xff], Header(opcode: .binary, length: 65535)),
    ([0x82, 0x7f, 0x7f, 255, 255, 255, 255, 255, 255, 255], Header(opcode: .binary, length: .max)),
    ([0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4], Header(opcode: .binary, mask: Mask(1, 2, 3, 4), length: 65536)),
    ([0xc1, 0x00], Header(opcode: .text, isCompressed: true, length: 0)),
    ([0x88, 0x80, 0, 0, 0, 0], Header(opcode: .close, mask: Mask(0), length: 0)),
    ([0x8a, 0x7d], Header(opcode: .pong, length: 125)),
  ]

  @Test(arguments: headers) func `a header round-trips, and every prefix needs more input`(
    bytes: [UInt8], header: Header
  ) throws {
    for count in 0..<bytes.count { #expect(try Header.parse(Array(bytes[..<count]).span) == nil) }
    #expect(try Header.parse(bytes.span) == header)
    #expect(try Header.parse((bytes + [1, 2, 3]).span) == header)
    #expect(header.size == bytes.count)
    var written: [UInt8] = []
    header.write(to: &written)
    #expect(written == bytes)
  }

  static let wrong: [(bytes: [UInt8], fault: WebSocketFault)] = [
    ([0xa1, 0x00], .reservedBits), ([0x91, 0x00], .reservedBits), ([0xf1, 0x00], .reservedBits),
    ([0x83, 0x00], .reservedOpcode), ([0x84, 0x00], .reservedOpcode), ([0x85, 0x00], .reservedOpcode),
    ([0x86, 0x00], .reservedOpcode), ([0x87, 0x00], .reservedOpcode), ([0x8b, 0x00], .reservedOpcode),
    ([0x8c, 0x00], .reservedOpcode), ([0x8d, 0x00], .reservedOpcode), ([0x8e, 0x00], .reservedOpcode),
    ([0x8f, 0x00], .reservedOpcode),
    ([0x08, 0x00], .fragmentedControl), ([0x09, 0x00], .fragmentedControl), ([0x0a, 0x00], .fragmentedControl),
    ([0x89, 0x7e], .longControl), ([0x88, 0xff], .longControl), ([0x8a, 0x7e], .longControl),
    ([0x82, 0x7e, 0, 125], .nonMinimalLength), ([0x82, 0x7e, 0, 0], .nonMinimalLength),
    ([0x82, 0x7f, 0, 0, 0, 0, 0, 0, 0xff, 0xff], .nonMinimalLength),
    ([0x82, 0x7f, 0, 0, 0, 0, 0, 0, 0, 5], .nonMinimalLength),
    ([0x82, 0x7f, 0x80, 0, 0, 0, 0, 0, 0, 0], .lengthTooLarge),
    ([0x82, 0x7f, 255, 255, 255, 255, 255, 255, 255, 255], .lengthTooLarge),
  ]

  @Test(arguments: wrong) func `an invalid header is refused at the invalid byte`(
    bytes: [UInt8], fault: WebSocketFault
  ) {
    for count in 0..<bytes.count { #expect(throws: Never.self) { try Header.parse(Array(bytes[..<count]).span) } }
    #expect(throws: fault) { try Header.parse(bytes.span) }
  }

  @Test func `masking equals the RFC's definition at every length and phase`() {
    let key: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]
    for length in [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 71, 72, 73, 127, 128, 129, 200] {
      for phase in 0..<4 {
        for lead in [0, 1, 3, 8] {
          let plain = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
          var mask = Mask(key[0], key[1], key[2], key[3])
          mask.advance(by: phase)
          var result = [UInt8](repeating: 9, count: lead)
          result.append(plain.span, masked: mask)
          let expected = plain.enumerated().map { $1 ^ key[($0 + phase) % 4] }
          #expect(result == [UInt8](repeating: 9, count: lead) + expected)
        }
      }
    }
  }

  @Test func `a masked frame matches the RFC's example`() {
    // RFC 6455 §5.7: a single-frame masked text message, "Hello".
    let bytes = WebSocketFrame.encode(.text, Array("Hello".utf8).span, mask: Mask(0x37, 0xfa, 0x21, 0x3d))
    #expect(bytes == [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58])
  }
}
