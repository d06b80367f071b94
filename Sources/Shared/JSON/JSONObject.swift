/// The members of an object, read by name. Records the names that were read, so that `finish()` can reject the others.
///
///     var object = try JSONValue(parsing: body).object()
///     let title = try object.string("title")
///     let owner: User.ID = try object.read("owner")
///     let tags: [String] = try object.optional("tags") ?? []
///     let bio: Change<String> = try object.change("bio")
///     try object.finish()
public struct JSONObject: Sendable {
  private let value: JSONValue
  /// The nodes of the keys that were read.
  private var readKeys: [Int]
  private var hasReadAll = false

  init(_ value: JSONValue) {
    self.value = value
    readKeys = []
    readKeys.reserveCapacity(16)
  }

  /// The member's value, including `null`.
  public mutating func value(_ name: String) throws(JSONError) -> JSONValue {
    if let member = find(name) { return member }
    if value.isWildcard { return value }
    try value.record(.refused([JSONFieldError(field: value.path(adding: name), reason: .missing)]))
    return value.document.wildcard
  }

  /// The member's value, including `null`; nil if it is absent.
  public mutating func member(_ name: String) -> JSONValue? { find(name) }

  /// Reads a required string.
  public mutating func string(_ name: String) throws(JSONError) -> String {
    try read(name) { value throws(JSONError) in try value.string() }
  }

  /// Reads a required boolean.
  public mutating func bool(_ name: String) throws(JSONError) -> Bool {
    try read(name) { value throws(JSONError) in try value.bool() }
  }

  /// Reads a required integer, written without a fraction and an exponent.
  public mutating func int(_ name: String) throws(JSONError) -> Int {
    try read(name) { value throws(JSONError) in try value.int() }
  }

  /// Reads a required integer, and refuses one outside of the range.
  public mutating func int(_ name: String, in range: ClosedRange<Int>) throws(JSONError) -> Int {
    try read(name) { value throws(JSONError) in try value.int(in: range) }
  }

  /// Reads a required number as the nearest `Double`.
  public mutating func double(_ name: String) throws(JSONError) -> Double {
    try read(name) { value throws(JSONError) in try value.double() }
  }

  /// Reads a required object. Its `finish()` rejects its own unread members.
  public mutating func object(_ name: String) throws(JSONError) -> JSONObject {
    try read(name) { value throws(JSONError) in try value.object() }
  }

  /// Reads a required value of any kind, `null` included, as its bytes.
  public mutating func raw(_ name: String) throws(JSONError) -> JSONRaw { try value(name).raw }

  /// An absent member is the error `missing`, `null` is `wrongType`.
  @inlinable public mutating func read<Value: JSONReadable>(_ name: String) throws(JSONError) -> Value {
    try read(name, Value.init(json:))
  }

  /// For rules beyond the type.
  @inlinable public mutating func read<Value>(
    _ name: String, _ read: (JSONValue) throws(JSONError) -> Value
  ) throws(JSONError) -> Value {
    let member = try value(name)
    do throws(JSONError) {
      return try read(member)
    } catch {
      return try read(try standIn(for: member, error))
    }
  }

  /// Nil if the member is absent, or `null` where the document permits that.
  @inlinable public mutating func optional<Value: JSONReadable>(_ name: String) throws(JSONError) -> Value? {
    try optional(name, Value.init(json:))
  }

  /// For a PATCH, which distinguishes absent from `null`.
  @inlinable public mutating func change<Value: JSONReadable>(_ name: String) throws(JSONError) -> Change<Value> {
    try change(name, Value.init(json:))
  }

  /// For rules beyond the type: `try object.optional("limit") { limit throws(JSONError) in try limit.int(in: 1...200)
  /// }`
  @inlinable public mutating func optional<Value>(
    _ name: String, _ read: (JSONValue) throws(JSONError) -> Value
  ) throws(JSONError) -> Value? {
    guard let member = find(name), !member.isAbsent else { return nil }
    do throws(JSONError) {
      return try read(member)
    } catch {
      try record(error, of: member)
      return nil
    }
  }

  /// For rules beyond the type: an absent member is `unchanged`, `null` is `cleared`.
  @inlinable public mutating func change<Value>(
    _ name: String, _ read: (JSONValue) throws(JSONError) -> Value
  ) throws(JSONError) -> Change<Value> {
    guard let member = find(name) else { return .unchanged }
    if member.isNull { return .cleared }
    do throws(JSONError) {
      return .set(try read(member))
    } catch {
      try record(error, of: member)
      return .unchanged
    }
  }

  /// Records an error of a member if the document collects errors, or throws it.
  public func record(_ error: JSONError, of member: JSONValue) throws(JSONError) { try member.record(error) }

  /// The wildcard in place of an invalid member, or the error of a document without a collector.
  @usableFromInline func standIn(for member: JSONValue, _ error: JSONError) throws(JSONError) -> JSONValue {
    try member.record(error)
    return value.document.wildcard
  }

  /// Rejects members that were not read. Clients do not call it, since they must ignore members of newer servers.
  public func finish() throws(JSONError) {
    if hasReadAll { return }
    var unknown: [JSONFieldError] = []
    var key = value.index + 1
    while key < Int(value.node.next), unknown.count < JSONLimits.unknownFields {
      if !readKeys.contains(key) {
        unknown.append(JSONFieldError(field: value.path(adding: value.name(at: key)), reason: .unknownField))
      }
      key = Int(value.nodes[key + 1].next)
    }
    guard !unknown.isEmpty else { return }
    try value.record(.refused(unknown))
  }

  /// All members in text order, for objects with dynamic names.
  public mutating func members() -> [(name: String, value: JSONValue)] {
    var members: [(name: String, value: JSONValue)] = []
    var key = value.index + 1
    hasReadAll = true
    while key < Int(value.node.next) {
      members.append((value.name(at: key), value.at(key + 1)))
      key = Int(value.nodes[key + 1].next)
    }
    return members
  }

  @usableFromInline mutating func find(_ name: String) -> JSONValue? {
    guard let key = key(named: name) else { return nil }
    readKeys.append(key)
    return value.at(key + 1)
  }

  private func key(named name: String) -> Int? {
    let name = name.utf8.span
    let text = value.text.span
    let end = Int(value.node.next)
    var key = value.index + 1
    while key < end {
      if matches(value.nodes[key], name, in: text) { return key }
      key = Int(value.nodes[key + 1].next)
    }
    return nil
  }

  private func matches(_ key: JSONNode, _ name: Span<UInt8>, in text: Span<UInt8>) -> Bool {
    let contents = key.contents
    if key.token == .escapedString { return JSONEscape.matches(text, contents, name) }
    guard contents.count == name.count else { return false }
    for index in name.indices where text[contents.lowerBound + index] != name[index] { return false }
    return true
  }
}
