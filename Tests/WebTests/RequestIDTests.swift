import Testing
import Web

@Suite struct RequestIDTests {
  @Test(
    arguments: [
      (0, 0, "00000000-0"), (0xdead_beef, 0x1f, "deadbeef-1f"), (1, 0xffff_ffff, "00000001-ffffffff"),
      (1, 0x1_0000_0000, "00000001-100000000"), (UInt32.max, UInt64.max, "ffffffff-ffffffffffffffff"),
    ] as [(UInt32, UInt64, String)])
  func `a request ID has a process and a number`(_ process: UInt32, _ number: UInt64, _ expected: String) {
    #expect(RequestID(process: process, number: number).description == expected)
  }

  @Test func `loops with strided counters never collide`() {
    let ids = (0..<3).flatMap { loop in (1...100).map { RequestID(process: 7, number: UInt64(loop + $0 * 3)) } }
    #expect(Set(ids.map(\.description)).count == 300)
  }
}
