public import JSON

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

extension ID {
  /// One spelling: decimal digits, no sign, no zero in front, below 2⁵³.
  public init?(parsing text: String) {
    guard (1...16).contains(text.utf8.count), text.utf8.first != UInt8(ascii: "0"),
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(text),
      number < 1 << 53
    else { return nil }
    self.init(number)
  }
}

extension ID: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    guard let id = ID(parsing: try value.string()) else { throw value.error(.invalid) }
    self = id
  }

  public func write(to json: inout JSONWriter) { json.value(description) }
}

extension ID: CustomStringConvertible {
  public var description: String { String(number) }
}

/// The kinds of things. They hold nothing yet but their name.
public enum Account {}
public enum Session {}
public enum File {}
public enum Forum {}
public enum Message {}
