// Bodies and queries of MorMessages.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// The members of a body, for objects of any type.
struct MorMessagesBody {
  private(set) var members: LenientObject

  /// Nil for an empty body and for `null`.
  init?(_ bytes: [UInt8]) throws(JSONError) {
    guard bytes.contains(where: { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }) else { return nil }
    let root = try JSONValue(parsing: bytes)
    if root.isNull { return nil }
    members = LenientObject(try root.object())
  }

  mutating func text(_ name: String) throws(JSONError) -> String? { try members.text(name) }

  mutating func has(_ name: String) -> Bool { members.has(name) }

  /// A UUID that the client chose; nil without one.
  mutating func suppliedUUID() throws -> String? {
    guard let uuid = try members.text("uuid"), !uuid.isEmpty else { return nil }
    guard ObjectUUID.maySupply(uuid) else { throw Refusal.invalid("uuid", .invalid) }
    return uuid
  }

  /// The address of a picture; nil without one.
  mutating func imageURL() throws -> String? {
    guard let text = try members.text("imageUrl"), !text.isEmpty else { return nil }
    guard text.unicodeScalars.count <= Self.maxAddress else {
      throw Refusal.invalid("imageUrl", .tooLong(limit: Self.maxAddress))
    }
    guard let address = WebAddress(text), address.scheme == .https || address.scheme == .http else {
      throw Refusal.invalid("imageUrl", .invalid)
    }
    return text
  }

  /// The Unicode scalars of the address of a picture.
  static let maxAddress = 1_024
}

extension MorMessagesCall {
  /// The body. A missing one is refused.
  func body() async throws -> MorMessagesBody {
    guard let body = try MorMessagesBody(try await context.request.body.collect()) else {
      throw MorMessagesFailure(.badRequest, "missing body")
    }
    return body
  }

  /// The part of a list that the query asks for.
  func range() throws -> MorMessagesRange {
    let range = try MorMessagesRange(context.request.head.target.query)
    if range.isDeep { try context.count(.searching) }
    return range
  }
}

/// `offset`, `resultSize`, `greaterThan` and `before`.
struct MorMessagesRange {
  var offset = 0
  var size = defaultSize
  /// Items have later times.
  var greaterThan: MorMessagesTime?
  /// The UUID of a message. Items are older.
  var before: String?

  static let defaultSize = 100
  /// The limit of lists of the API.
  static let maxSize = MessageQuery.maxMessages
  /// An offset costs as much as reading the items before it.
  static let maxOffset = 10_000
  /// The items that the clients show at once. A larger offset counts as a search.
  static let maxShallowOffset = 1_000

  var isDeep: Bool { offset > Self.maxShallowOffset }

  init(_ query: String?) throws {
    let pairs: FormPairs
    do { pairs = try FormPairs(query ?? "") } catch { throw MorMessagesFailure(.badRequest, "invalid query") }
    offset = try Self.number("offset", pairs, 0...Self.maxOffset) ?? 0
    size = min(try Self.number("resultSize", pairs, 0...Int.max) ?? Self.defaultSize, Self.maxSize)
    before = pairs["before"].flatMap { $0.isEmpty ? nil : $0 }
    if let text = pairs["greaterThan"], !text.isEmpty {
      guard let time = MorMessagesTime(parsing: text) else { throw MorMessagesFailure.date }
      greaterThan = time
    }
  }

  private static func number(_ name: String, _ pairs: FormPairs, _ range: ClosedRange<Int>) throws -> Int? {
    guard let text = pairs[name], !text.isEmpty else { return nil }
    guard let number = LenientValue.number(text), range.contains(number) else {
      let limit = range.upperBound == .max ? "" : " of at most \(range.upperBound)"
      throw MorMessagesFailure(.badRequest, "\(name) takes a number\(limit)")
    }
    return number
  }
}
