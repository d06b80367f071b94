// Clients of other systems write numbers and ids as text or as numbers, and booleans in four ways. Members without a meaning
// are ignored.

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

  /// An integer, also as text.
  mutating func number(_ name: String) throws(JSONError) -> Int? {
    guard let value = object.member(name), !value.isNull else { return nil }
    guard value.kind == .string else { return try value.int() }
    guard let number = LenientValue.number(try value.string()) else { throw value.error(.invalid) }
    return number
  }

  /// `true`, `false`, 1 or 0, also as text.
  mutating func flag(_ name: String) throws(JSONError) -> Bool? {
    guard let value = object.member(name), !value.isNull else { return nil }
    if value.kind == .bool { return try value.bool() }
    let text = value.kind == .number ? String(try value.int()) : try value.string()
    guard let flag = LenientValue.flag(text) else { throw value.error(.invalid) }
    return flag
  }
}

/// Values in a query.
enum LenientValue {
  static func number(_ text: String) -> Int? {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
    return Int(text)
  }

  static func flag(_ text: String) -> Bool? {
    switch text {
    case "true", "1": true
    case "false", "0": false
    default: nil
    }
  }
}
