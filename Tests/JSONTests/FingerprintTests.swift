import ParleyJSON
import Testing

@Suite struct FingerprintTests {
  @Test func `each byte and the number of bytes change the fingerprint`() {
    var sums: Set<UInt64> = []
    var count = 0
    for length in 0..<40 {
      let bytes = [UInt8](repeating: 0, count: length)
      sums.insert(Fingerprint(ofMany: bytes.span).sum)
      count += 1
      for position in bytes.indices {
        for bit in 0..<8 {
          var changed = bytes
          changed[position] = 1 << UInt8(bit)
          sums.insert(Fingerprint(ofMany: changed.span).sum)
          count += 1
        }
      }
    }
    #expect(sums.count == count)
  }

  @Test func `the order of the words changes the fingerprint`() {
    let (first, second) = ([UInt8](repeating: 1, count: 8), [UInt8](repeating: 2, count: 8))
    let rows = [first + second, second + first, first + first, second + second, first + second + first + second]
    #expect(Set(rows.map { Fingerprint(ofMany: $0.span).sum }).count == rows.count)
  }
}
