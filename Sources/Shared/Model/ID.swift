public import ParleyJSON

/// The number of one thing of the site. All kinds share one counter, so an id names one thing whatever its kind; the type
/// says which kind is meant.
public struct ID<Thing>: Hashable, Sendable, Comparable {
  /// Below 2⁵³, so that every JSON reader holds it exactly.
  public let number: Int

  public init(_ number: Int) {
    self.number = number
  }

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
  /// The greatest that is below 2⁵³.
  private static var most: Int { 1 << 53 - 1 }

  /// Decimal digits, without a sign or a zero in front: each id has one spelling.
  public init?(_ text: String) {
    guard text.utf8.first != UInt8(ascii: "0"), text.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let number = Int(text),
      number <= Self.most
    else { return nil }
    self.init(number)
  }
}

/// The kinds of things that hold nothing yet but their name.
public enum Job {}
