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

/// The kinds of things. They hold nothing yet but their name.
public enum Account {}
public enum Conversation {}
public enum Forum {}
public enum Message {}
