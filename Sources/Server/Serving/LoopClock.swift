import ParleyNetworking
import ParleyWire

/// The wall-clock time, derived from the loop's monotonic clock and synchronized once a second, and its cached `Date`
/// field.
final class LoopClock {
  private var offset: Int64 = 0
  private var refreshedAt = Int64.min
  private var dateLine: [UInt8] = []

  /// Milliseconds since 1970.
  func milliseconds(_ now: Int64) -> Int64 {
    refresh(now)
    return (now + offset) / 1_000_000
  }

  /// The Date field with its line end (RFC 9110 §6.6.1).
  func appendDate(_ now: Int64, to output: inout [UInt8]) {
    refresh(now)
    output.append(contentsOf: dateLine)
  }

  private func refresh(_ now: Int64) {
    guard refreshedAt == .min || now - refreshedAt >= 1_000_000_000 else { return }
    let wall = ParleyNetworking.Clock.wall()
    offset = wall - ParleyNetworking.Clock.monotonic()
    // The field has whole seconds: refreshes at the next full second.
    refreshedAt = now - wall % 1_000_000_000
    dateLine = Array("Date: \(HTTPDate.format(Int(wall / 1_000_000_000)))\r\n".utf8)
  }
}
