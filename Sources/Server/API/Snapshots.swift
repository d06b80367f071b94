import ParleyJSON
import Web

extension API {
  /// Returns the caller's snapshot. The tag covers the state without the cursor: with an unchanged state, the client's
  /// older cursor leads to the same events.
  @Sendable static func getSnapshot(_ context: RequestContext) async throws -> Response {
    let snapshot = try await context.community.getSnapshot(for: context.caller)
    var json = JSONWriter(reserving: 1 << 16)
    json.value(snapshot)
    let state = json.bytes[(json.bytes.firstIndex(of: UInt8(ascii: ",")) ?? 0)...]
    return .written(json).tagged(fingerprint(state).hexadecimal, since: context.community.start)
  }

  /// Hashes in four parallel lanes, since a snapshot may have a million bytes.
  private static func fingerprint(_ bytes: ArraySlice<UInt8>) -> Fingerprint {
    var (first, second, third, fourth) = (Fingerprint(), Fingerprint(), Fingerprint(), Fingerprint())
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      first.take(UInt64(byte))
      second.take(UInt64(rest.next() ?? 0))
      third.take(UInt64(rest.next() ?? 0))
      fourth.take(UInt64(rest.next() ?? 0))
    }
    for other in [second, third, fourth] { first.take(other.sum) }
    return first
  }
}
