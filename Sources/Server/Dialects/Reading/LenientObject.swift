// Clients of other systems write numbers and ids as text or as numbers. Members without a meaning are ignored.

import ParleyJSON

/// The members of an object, read leniently. `null` counts as absent.
struct LenientObject {
  private var object: JSONObject

  init(_ object: JSONObject) { self.object = object }

  /// Whether the member is there, with a value or with `null`.
  mutating func has(_ name: String) -> Bool { object.member(name) != nil }

  /// A text. A number counts as its digits.
  mutating func text(_ name: String) throws(JSONError) -> String? {
    guard let value = object.member(name), !value.isNull else { return nil }
    return value.kind == .number ? String(try value.int()) : try value.string()
  }
}

/// Values in a query.
enum LenientValue {
  static func number(_ text: String) -> Int? {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
    return Int(text)
  }
}
