/// A parsed value: a node of a document, which it keeps alive. To keep a part without the document, copy it to a
/// `String`, an `Int` or a `JSONRaw`.
public struct JSONValue: Sendable {
  let document: JSONDocument
  let index: Int

  /// Parses a text without copying it.
  ///
  /// - Parameter nullIsAbsent: whether an optional member may be `null`. A server refuses it: `null` for "no condition"
  ///   or "unchanged" is a client's mistake.
  /// - Parameter faults: collects all errors of fields; nil to throw the first.
  public init(
    parsing text: [UInt8], depth: Int = JSONLimits.depth, nullIsAbsent: Bool = true,
    collecting faults: JSONFaults? = nil
  ) throws(JSONError) {
    self.init(
      try JSONDocument(text, depth: depth, nullIsAbsent: nullIsAbsent, collecting: faults), index: 0)
  }

  /// Parses a text in a larger buffer. The text is copied.
  public init(parsing text: Span<UInt8>, depth: Int = JSONLimits.depth) throws(JSONError) {
    let copy = [UInt8](capacity: text.count) { output in
      for offset in text.indices { output.append(text[offset]) }
    }
    try self.init(parsing: copy, depth: depth)
  }

  init(_ document: JSONDocument, index: Int) {
    self.document = document
    self.index = index
  }

  var text: [UInt8] { document.text }
  var nodes: [JSONNode] { document.nodes }
  var node: JSONNode { nodes[index] }

  /// The kind of the value: object, array, string, number, boolean or null.
  public var kind: JSONKind { node.kind }

  /// Whether the value is `null`.
  public var isNull: Bool { node.token == .null }

  /// Whether it stands in for a missing or invalid value.
  public var isWildcard: Bool { node.token == .wildcard }

  /// Whether an optional member with this value counts as absent.
  @usableFromInline var isAbsent: Bool { isNull && document.nullIsAbsent }

  /// The bytes as received, whitespace inside arrays and objects included.
  public var raw: JSONRaw { JSONRaw(trusted: isWildcard ? Array("null".utf8) : [UInt8](text[node.range])) }

  /// The decoded string; an error for another kind.
  public func string() throws(JSONError) -> String {
    let node = node
    switch node.token {
    case .string: return String(decoding: text[node.contents], as: UTF8.self)
    case .escapedString: return String(decoding: JSONEscape.decoded(text.span, node.contents), as: UTF8.self)
    case .wildcard: return "1"
    case .object, .array, .number, .true, .false, .null: throw error(.wrongType(expected: .string))
    }
  }

  /// The boolean; an error for another kind.
  public func bool() throws(JSONError) -> Bool {
    switch node.token {
    case .true: return true
    case .false, .wildcard: return false
    case .object, .array, .string, .escapedString, .number, .null: throw error(.wrongType(expected: .bool))
    }
  }

  /// An exact integer without fraction or exponent: `1.0` and `1e2` are rejected, so that each value has one spelling
  /// (except `-0`, which is 0).
  public func int() throws(JSONError) -> Int {
    let node = node
    guard node.token == .number else {
      if node.token == .wildcard { return 1 }
      throw error(.wrongType(expected: .number))
    }
    let bytes = text.span
    let isNegative = bytes[node.range.lowerBound] == UInt8(ascii: "-")
    var value = 0
    var hasOverflown = false
    for offset in node.range.lowerBound + (isNegative ? 1 : 0)..<node.range.upperBound {
      let digit = bytes[offset] &- 0x30
      guard digit < 10 else { throw error(.notInteger) }
      // Accumulate negatively: Int.min has no positive counterpart.
      let tens = value.multipliedReportingOverflow(by: 10)
      let sum = tens.partialValue.subtractingReportingOverflow(Int(digit))
      hasOverflown = hasOverflown || tens.overflow || sum.overflow
      value = sum.partialValue
    }
    guard !hasOverflown, isNegative || value != Int.min else { throw error(.outOfRange) }
    return isNegative ? value : -value
  }

  /// An exact integer as in `int()`; an error outside of the range.
  public func int(in range: ClosedRange<Int>) throws(JSONError) -> Int {
    let value = try int()
    guard range.contains(value) else {
      if isWildcard { return range.lowerBound }
      throw error(.notInRange(range))
    }
    return value
  }

  /// The nearest `Double`. Overflow is rejected; underflow is zero.
  public func double() throws(JSONError) -> Double {
    let node = node
    guard node.token == .number else {
      if node.token == .wildcard { return 1 }
      throw error(.wrongType(expected: .number))
    }
    guard node.range.count <= JSONLimits.doubleBytes,
      let value = Double(String(decoding: text[node.range], as: UTF8.self)), value.isFinite
    else { throw error(.outOfRange) }
    return value
  }

  /// Refuses a text with a number that overflows `Double` (RFC 7493 §2.2): many readers refuse every text that contains
  /// one, so it must not be stored for others.
  public func requireFiniteNumbers() throws(JSONError) {
    for number in nodes.indices where nodes[number].token == .number {
      let range = nodes[number].range
      let isLong = range.count > JSONLimits.finiteDigits
      guard isLong || text[range].contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { continue }
      _ = try JSONValue(document, index: number).double()
    }
  }

  /// The members of the object; an error for another kind.
  public func object() throws(JSONError) -> JSONObject {
    guard node.token == .object || node.token == .wildcard else { throw error(.wrongType(expected: .object)) }
    return JSONObject(self)
  }

  /// The elements of the array; an error for another kind.
  public func array() throws(JSONError) -> [JSONValue] {
    try array { $0 }
  }

  /// The elements of the array, each read by a closure; an error for another kind.
  @inlinable public func array<Element>(
    _ element: (JSONValue) throws(JSONError) -> Element
  ) throws(JSONError) -> [Element] {
    var elements: [Element] = []
    var item = try firstElement()
    while let value = item {
      do throws(JSONError) { elements.append(try element(value)) } catch { try record(error) }
      item = elementAfter(value)
    }
    return elements
  }

  @usableFromInline func firstElement() throws(JSONError) -> JSONValue? {
    guard node.token == .array else {
      if node.token == .wildcard { return nil }
      throw error(.wrongType(expected: .array))
    }
    return index + 1 < Int(node.next) ? at(index + 1) : nil
  }

  /// The next element of this array.
  @usableFromInline func elementAfter(_ element: JSONValue) -> JSONValue? {
    let next = Int(element.node.next)
    return next < Int(node.next) ? at(next) : nil
  }

  func at(_ index: Int) -> JSONValue { JSONValue(document, index: index) }

  /// Records an error of this value if the document collects errors, or throws it.
  @usableFromInline func record(_ error: JSONError) throws(JSONError) {
    guard let faults = document.faults, !isWildcard, case .refused(let errors) = error else { throw error }
    faults.record(errors)
  }
}

extension JSONValue {
  /// For rules of the caller: `throw value.error(.invalid)` names the field.
  public func error(_ reason: JSONFieldError.Reason) -> JSONError {
    // The fault of a stand-in is known already.
    isWildcard ? .refused([]) : .refused([JSONFieldError(field: path(), reason: reason)])
  }

  /// The path from the root to this value. Computed on demand, since only errors need it.
  func path(adding name: String? = nil) -> String {
    if isWildcard { return name ?? "" }
    var path = ""
    var container = 0
    while container < index {
      let inside = nodes[container].token == .array ? item(in: container) : member(in: container)
      switch inside.step {
      case .item(let number): path += "[\(number)]"
      case .member(let name): path += path.isEmpty ? name : ".\(name)"
      }
      container = inside.node
    }
    if let name { path += path.isEmpty ? name : ".\(name)" }
    return path.utf8.count <= JSONLimits.pathBytes
      ? path : String(decoding: path.utf8.prefix(JSONLimits.pathBytes), as: UTF8.self) + "…"
  }

  private enum Step {
    case item(Int)
    case member(String)
  }

  /// The element of an array that is, or contains, this value.
  private func item(in array: Int) -> (step: Step, node: Int) {
    var item = array + 1
    var number = 0
    while Int(nodes[item].next) <= index {
      item = Int(nodes[item].next)
      number += 1
    }
    return (.item(number), item)
  }

  /// The member of an object that is, or contains, this value.
  private func member(in object: Int) -> (step: Step, node: Int) {
    var key = object + 1
    while Int(nodes[key + 1].next) <= index { key = Int(nodes[key + 1].next) }
    return (.member(name(at: key)), key + 1)
  }

  func name(at key: Int) -> String {
    let node = nodes[key]
    return node.token == .escapedString
      ? String(decoding: JSONEscape.decoded(text.span, node.contents), as: UTF8.self)
      : String(decoding: text[node.contents], as: UTF8.self)
  }
}
