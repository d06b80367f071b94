/// Which bytes of a file a request asks for (RFC 9110 §14).
///
/// A server may ignore Range, and does so here, answering with the whole, when the field is malformed, names another
/// unit than bytes, asks for more than eight ranges or for ranges that overlap: many small or overlapping ranges are
/// an old way to make a server send more than the file holds (§17.15).
public enum ByteRanges: Sendable, Hashable {
  case whole
  /// In the order asked for, none empty, none overlapping, all within the file. Answer 206.
  case some([Range<Int>])
  /// Answer 416 with `Content-Range: bytes */length`.
  case unsatisfiable

  public static let mostRanges = 8

  /// `value` is the Range field of a GET whose preconditions hold, `length` the file's.
  public init(_ value: String?, length: Int) {
    guard let value, let wanted = ByteRanges.parse(value) else {
      self = .whole
      return
    }
    let ranges = wanted.compactMap { $0.range(in: length) }
    let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
    let overlaps = zip(sorted, sorted.dropFirst()).contains { $0.upperBound > $1.lowerBound }
    self = ranges.isEmpty ? .unsatisfiable : overlaps ? .whole : .some(ranges)
  }

  /// The value of Content-Range for one range (§14.4).
  public static func contentRange(_ range: Range<Int>, of length: Int) -> String {
    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
  }

  public static func unsatisfiableContentRange(of length: Int) -> String { "bytes */\(length)" }

  private enum Wanted {
    case from(Int, through: Int?)
    case last(Int)

    /// Nil when it lies outside the file.
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

  private static func parse(_ value: String) -> [Wanted]? {
    let bytes = Array(value.utf8)
    guard bytes.count > 6, bytes.span.matches("bytes=", in: 0..<6) else { return nil }
    var wanted: [Wanted] = []
    var start = 6
    while start <= bytes.count {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: ",")) ?? bytes.count
      let member = bytes.span.trimmed(start..<end)
      // §5.6.1: empty members of a list are passed over.
      if !member.isEmpty {
        guard wanted.count < mostRanges, let one = parse(bytes.span, member) else { return nil }
        wanted.append(one)
      }
      start = end + 1
    }
    return wanted.isEmpty ? nil : wanted
  }

  private static func parse(_ bytes: Span<UInt8>, _ member: Range<Int>) -> Wanted? {
    guard let dash = member.first(where: { bytes[$0] == UInt8(ascii: "-") }) else { return nil }
    let hasEnd = dash + 1 < member.upperBound
    let end = bytes.decimal(in: dash + 1..<member.upperBound)
    guard !hasEnd || end != nil else { return nil }
    if dash == member.lowerBound { return end.map { .last($0) } }
    guard let first = bytes.decimal(in: member.lowerBound..<dash), end ?? first >= first else { return nil }
    return .from(first, through: end)
  }
}
