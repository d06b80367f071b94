import Testing

@testable import ParleyWire

@Suite struct WideBytesTests {
  @Test(arguments: [0, 1, 7, 8, 9, 15, 16, 17, 40])
  func `the first place of a byte is found, wherever it is`(_ count: Int) {
    let wanted: UInt8 = 0x7e
    for start in 0...count {
      // Bytes that differ from it in one bit, or by one, are others.
      for other in [0x00, 0x7d, 0x7f, 0xfe, 0x7e ^ 0x01, 0xff] as [UInt8] {
        var bytes = [UInt8](repeating: other, count: count)
        #expect(bytes.span.place(of: wanted, from: start) == count)
        for place in 0..<count {
          bytes[place] = wanted
          #expect(bytes.span.place(of: wanted, from: start) == (place >= start ? place : count))
          bytes[count - 1] = wanted
          #expect(
            bytes.span.place(of: wanted, from: start) == (place >= start ? place : min(max(start, count - 1), count)))
          bytes[place] = other
          bytes[count - 1] = other
        }
      }
    }
  }
}
