/// The requested ranges of a file (RFC 9110 §14).
///
/// A server may ignore Range. This one does, and sends the whole file, if the field is malformed, has another unit than
/// bytes, more than eight ranges or overlapping ranges: many small or overlapping ranges are a known denial-of-service
/// attack (§17.15).
public enum ByteRanges: Sendable, Hashable {
  case whole
  /// The ranges in the requested order, not empty, without overlaps, within the file. Send 206.
  case some([Range<Int>])
  /// Send 416 with `Content-Range: bytes */length`.
  case unsatisfiable

  public static let maxRanges = 8

  /// `value` is the Range field of a GET with valid preconditions, `length` the size of the file.
  public init(_ value: String?, length: Int) {
    guard let value, let requested = ByteRanges.parse(value) else {
      self = .whole
      return
    }
    let ranges = requested.compactMap { $0.range(in: length) }
    let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
    let overlaps = zip(sorted, sorted.dropFirst()).contains { $0.upperBound > $1.lowerBound }
    self = ranges.isEmpty ? .unsatisfiable : overlaps ? .whole : .some(ranges)
  }

  /// The Content-Range value of one range (§14.4).
  public static func contentRange(_ range: Range<Int>, of length: Int) -> String {
    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
  }

  public static func unsatisfiableContentRange(of length: Int) -> String { "bytes */\(length)" }

  private enum RequestedRange {
    case from(Int, through: Int?)
    case last(Int)

    /// Nil if the range is outside the file.
    func range(in length: Int) -> Range<Int>? {
      switch self {
      case .from(let first, let last):
        guard first < length else { return nil }
        return first..<min(last ?? length - 1, length - 1) + 1
      case .last(let count):
        guard count > 0, length > 0 else { return nil }
        return max(length - count, 0)..<length
      }
    }
  }

  private static func parse(_ value: String) -> [RequestedRange]? {
    let bytes = Array(value.utf8)
    guard bytes.count > 6, bytes.span.matches("bytes=", in: 0..<6) else { return nil }
    var requested: [RequestedRange] = []
    var start = 6
    while start <= bytes.count {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: ",")) ?? bytes.count
      let member = bytes.span.trimmed(start..<end)
      // §5.6.1: empty list members are ignored.
      if !member.isEmpty {
        guard requested.count < maxRanges, let range = parse(bytes.span, member) else { return nil }
        requested.append(range)
      }
      start = end + 1
    }
    return requested.isEmpty ? nil : requested
  }

  private static func parse(_ bytes: Span<UInt8>, _ member: Range<Int>) -> RequestedRange? {
    guard let dash = member.first(where: { bytes[$0] == UInt8(ascii: "-") }) else { return nil }
    let hasEnd = dash + 1 < member.upperBound
    let end = bytes.decimal(in: dash + 1..<member.upperBound)
    guard !hasEnd || end != nil else { return nil }
    if dash == member.lowerBound { return end.map { .last($0) } }
    guard let first = bytes.decimal(in: member.lowerBound..<dash), end ?? first >= first else { return nil }
    return .from(first, through: end)
  }
}
