import ParleyJSON

/// Reads values of JSON that another program wrote. A missing, null or odd optional member is absent.
extension JSONObject {
  mutating func text(_ name: String) -> String? {
    guard let value = member(name), !value.isNull else { return nil }
    do throws(JSONError) { return try value.string() } catch { return nil }
  }

  /// A text that is not empty.
  mutating func words(_ name: String) -> String? {
    guard let text = text(name), !text.isEmpty else { return nil }
    return text
  }

  /// An id, which some programs write as a number.
  mutating func key(_ name: String) -> String? {
    guard let value = member(name), !value.isNull else { return nil }
    do throws(JSONError) {
      let text = value.kind == .number ? String(try value.int()) : try value.string()
      return SourceKey.isValid(text) ? text : nil
    } catch { return nil }
  }

  mutating func number(_ name: String) -> Int? {
    guard let value = member(name), !value.isNull else { return nil }
    do throws(JSONError) { return try value.int() } catch { return nil }
  }

  mutating func flag(_ name: String) -> Bool {
    guard let value = member(name), !value.isNull else { return false }
    do throws(JSONError) { return try value.bool() } catch { return false }
  }

  mutating func part(_ name: String) -> JSONObject? {
    guard let value = member(name), value.kind == .object else { return nil }
    do throws(JSONError) { return try value.object() } catch { return nil }
  }

  mutating func list(_ name: String) -> [JSONValue] {
    guard let value = member(name), value.kind == .array else { return [] }
    do throws(JSONError) { return try value.array() } catch { return [] }
  }

  mutating func parts(_ name: String) -> [JSONObject] { list(name).compactMap { $0.part } }

  mutating func texts(_ name: String) -> [String] { list(name).compactMap { $0.words } }
}

extension JSONValue {
  var part: JSONObject? {
    guard kind == .object else { return nil }
    do throws(JSONError) { return try object() } catch { return nil }
  }

  var words: String? {
    guard kind == .string else { return nil }
    do throws(JSONError) { return try string() } catch { return nil }
  }
}

/// Ids of a source. They become part of a `client_id`.
enum SourceKey {
  private static let maxBytes = 24

  static func isValid(_ text: String) -> Bool {
    (1...maxBytes).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}

/// Times of a source, checked: a message from the future would stand above all later ones.
struct SourceClock {
  /// Milliseconds since 1970.
  let now: Int64

  /// The first millisecond of 1990: older than every program that can be imported.
  private static let earliest: Int64 = 631_152_000_000

  /// RFC 3339.
  func time(_ text: String?, of what: String) throws(ImportFault) -> Int64 {
    guard let text, let time = Timestamp.parse(text) else { throw bad(text ?? "none", what) }
    return try checked(Int64(time), text, what)
  }

  /// Seconds with a fraction, as in Slack.
  func seconds(_ text: String, of what: String) throws(ImportFault) -> Int64 {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let whole = parts.first, (1...12).contains(whole.utf8.count), let seconds = Int64(whole),
      seconds >= 0, parts.dropFirst().allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } })
    else { throw bad(text, what) }
    let fraction = (parts.count == 2 ? String(parts[1].prefix(3)) : "") + "000"
    return try checked(seconds * 1_000 + (Int64(fraction.prefix(3)) ?? 0), text, what)
  }

  /// `2024-01-31 12:00:00.123` of a dump, in UTC.
  func dumped(_ text: String?, of what: String) throws(ImportFault) -> Int64 {
    guard let text else { throw bad("none", what) }
    var iso = Substring(text).replacing(" ", with: "T")
    if iso.hasSuffix("+00") { iso = iso.dropLast(3)[...] }
    return try time(iso + "Z", of: what)
  }

  private func checked(_ time: Int64, _ text: String, _ what: String) throws(ImportFault) -> Int64 {
    guard time >= Self.earliest, time <= now else { throw bad(text, what) }
    return time
  }

  private func bad(_ text: String, _ what: String) -> ImportFault {
    let shown = String(text.prefix(40)).filter { !$0.isNewline }
    return ImportFault(
      "\(what) has the date “\(shown)”, which is none of the past. Check the clock, and make a new export.")
  }
}

/// Text that means the same in Markdown.
enum Markdown {
  /// Escapes what would be a link.
  static func label(_ text: String) -> String {
    var label = ""
    for character in text {
      if character == "[" || character == "]" || character == "\\" { label.append("\\") }
      label.append(character.isNewline ? " " : character)
    }
    return label
  }

  /// Nil for an address that is no web or mail address.
  static func link(_ label: String, _ address: String) -> String? {
    guard isAddress(address) else { return nil }
    return "[\(Markdown.label(label))](\(address.replacing("(", with: "%28").replacing(")", with: "%29")))"
  }

  static func isAddress(_ text: String) -> Bool {
    (text.hasPrefix("https://") || text.hasPrefix("http://") || text.hasPrefix("mailto:"))
      && !text.unicodeScalars.contains { $0.properties.isWhitespace || $0 == "<" || $0 == ">" }
  }

  static func quote(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? ">" : "> \($0)" }.joined(
      separator: "\n")
  }

  /// A line of at most `limit` characters without white space at its ends, for a title.
  static func title(_ text: String, limit: Int = 80) -> String? {
    let line = text.split(whereSeparator: \.isNewline).lazy
      .map { $0.trimmingPrefix { $0.isWhitespace || $0 == "#" || $0 == ">" || $0 == "*" } }
      .first { !$0.isEmpty }
    guard let line else { return nil }
    guard line.count > limit else { return String(line) }
    let cut = line.prefix(limit)
    let words = cut.lastIndex(of: " ").map { cut[..<$0] } ?? cut
    return (words.isEmpty ? String(cut) : String(words)) + "…"
  }
}

extension StringProtocol {
  fileprivate func trimmingPrefix(_ isTrimmed: (Character) -> Bool) -> SubSequence { drop(while: isTrimmed) }
}
