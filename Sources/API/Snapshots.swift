import JSON
import Web

extension API {
  /// The tag is of what it says and not of the cursor: where nothing that one sees has changed, an older cursor is as good.
  @Sendable static func showSnapshot(_ call: Call) async throws -> Response {
    let snapshot = try await call.community.snapshot(for: call.caller)
    var json = JSONWriter(reserving: 1 << 16)
    json.value(snapshot)
    let said = json.bytes[(json.bytes.firstIndex(of: UInt8(ascii: ",")) ?? 0)...]
    let sum = said.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return .written(json).tagged(String(sum, radix: 16))
  }
}
