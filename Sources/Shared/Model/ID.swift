public import ParleyJSON

/// Number of one object of the site. All kinds share one counter, so an id is unique across kinds; the type parameter
/// is the kind.
public struct ID<Thing>: Hashable, Sendable, Comparable {
  /// Below 2⁵³, so that every JSON reader stores it exactly.
  public let number: Int

  /// An id with a known number.
  public init(_ number: Int) {
    self.number = number
  }

  /// Whether the first object was numbered before the second.
  public static func < (one: ID, other: ID) -> Bool { one.number < other.number }
}

extension ID: CustomStringConvertible {
  public var description: String { String(number) }
}

extension ID: JSONWritable {
  public func write(to json: inout JSONWriter) {
    if number >= 0 { json.quoted(UInt(number)) } else { json.value(String(number)) }
  }
}

extension ID: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    guard let id = ID(try value.string()) else { throw value.error(.invalid) }
    self = id
  }
}

extension ID {
  /// The greatest integer below 2⁵³.
  public static var maxNumber: Int { 1 << 53 - 1 }

  /// Parses decimal digits without a sign or a leading zero: each id has one spelling.
  public init?(_ text: String) {
    guard text.utf8.first != UInt8(ascii: "0"), text.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let number = Int(text),
      number <= Self.maxNumber
    else { return nil }
    self.init(number)
  }
}

/// Types without members, used only as parameters of `ID`.
public enum Job {}
