import Testing

@testable import ParleyWire

@Suite struct WideBytesTests {
  @Test(arguments: [0, 1, 7, 8, 9, 15, 16, 17, 40])
  func `the first occurrence of a byte is found`(_ count: Int) {
    let wanted: UInt8 = 0x7e
    for start in 0...count {
      // Bytes that differ in one bit or by one do not match.
      for other in [0x00, 0x7d, 0x7f, 0xfe, 0x7e ^ 0x01, 0xff] as [UInt8] {
        var bytes = [UInt8](repeating: other, count: count)
        #expect(bytes.span.offset(of: wanted, from: start) == count)
        for index in 0..<count {
          bytes[index] = wanted
          #expect(bytes.span.offset(of: wanted, from: start) == (index >= start ? index : count))
          bytes[count - 1] = wanted
          #expect(
            bytes.span.offset(of: wanted, from: start) == (index >= start ? index : min(max(start, count - 1), count)))
          bytes[index] = other
          bytes[count - 1] = other
        }
      }
    }
  }
}
