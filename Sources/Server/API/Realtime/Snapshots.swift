import ParleyJSON
import Web

extension API {
  /// Returns the caller's snapshot. The tag covers the state without the cursor: with an unchanged state, the client's
  /// older cursor leads to the same events.
  @Sendable static func getSnapshot(_ context: RequestContext) async throws -> Response {
    let snapshot = try await context.community.getSnapshot(for: context.caller)
    var json = JSONWriter(reserving: 1 << 16)
    json.value(snapshot)
    let end = json.bytes.firstIndex(of: UInt8(ascii: ",")) ?? 0
    let state = Fingerprint(ofMany: json.bytes.span.extracting(droppingFirst: end))
    return .written(json).weaklyTagged(state.hexadecimal, since: context.community.start)
  }
}
