import JSON
import Web

extension API {
  /// The tag is of what it says and not of the cursor: where nothing that one sees has changed, an older cursor is as good.
  @Sendable static func showSnapshot(_ call: Call) async throws -> Response {
    let snapshot = try await call.community.snapshot(for: call.caller)
    var json = JSONWriter(reserving: 1 << 16)
    json.value(snapshot)
    let said = json.bytes[(json.bytes.firstIndex(of: UInt8(ascii: ",")) ?? 0)...]
    return .written(json).tagged(String(fingerprint(said), radix: 16))
  }

  /// Four sums side by side, which a processor adds up at once: a snapshot may have a million bytes.
  private static func fingerprint(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    let (basis, prime) = (0xcbf2_9ce4_8422_2325 as UInt64, 0x100_0000_01b3 as UInt64)
    var (first, second, third, fourth) = (basis, basis, basis, basis)
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      first = (first ^ UInt64(byte)) &* prime
      second = (second ^ UInt64(rest.next() ?? 0)) &* prime
      third = (third ^ UInt64(rest.next() ?? 0)) &* prime
      fourth = (fourth ^ UInt64(rest.next() ?? 0)) &* prime
    }
    return [second, third, fourth].reduce(first) { ($0 ^ $1) &* prime }
  }
}
