// Bodies of App.net and pnut: JSON, a form, or the fields of a multipart form.

import API
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// The members of a body. `null` counts as absent, and a missing body has no members.
struct LenientBody {
  private enum Source {
    case object(JSONObject)
    case pairs([String: String])
  }

  private let source: Source

  static let empty = LenientBody(pairs: [:])

  init(pairs: [String: String]) { source = .pairs(pairs) }

  init(_ object: JSONObject) { source = .object(object) }

  init(_ bytes: [UInt8], type: MediaType?) throws {
    let text = bytes.drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
    guard let first = text.first else {
      self = .empty
      return
    }
    guard type?.isForm != true, type?.isJSON == true || first == UInt8(ascii: "{") else {
      guard let text = String(validating: bytes, as: UTF8.self) else { throw Refusal.invalid("body", .invalid) }
      let form: FormPairs
      do { form = try FormPairs(text) } catch { throw Refusal.invalid("body", .invalid) }
      self.init(pairs: Dictionary(form.pairs.map { ($0.name, $0.value) }) { one, _ in one })
      return
    }
    let root = try JSONValue(parsing: bytes)
    try root.requireFiniteNumbers()
    self.init(try root.object())
  }

  /// The member, unless it is absent. In a form, a text that is no JSON object or array is nil.
  private func member(_ name: String) throws(JSONError) -> JSONValue? {
    switch source {
    case .object(var object): return object.member(name).flatMap { $0.isNull ? nil : $0 }
    case .pairs(let pairs):
      guard let text = pairs[name], text.hasPrefix("{") || text.hasPrefix("[") else { return nil }
      guard let value = try? JSONValue(parsing: Array(text.utf8)) else { return nil }
      try value.requireFiniteNumbers()
      return value
    }
  }

  func has(_ name: String) -> Bool {
    if case .pairs(let pairs) = source { return pairs[name] != nil }
    return (try? member(name)) != nil
  }

  /// A text. Numbers count as their digits.
  func text(_ name: String) throws(JSONError) -> String? {
    if case .pairs(let pairs) = source { return pairs[name] }
    return try member(name).map { value throws(JSONError) in try LenientValue.text(value) }
  }

  func number(_ name: String) throws(JSONError) -> Int? {
    try text(name).flatMap { LenientValue.number($0) }
  }

  func flag(_ name: String) throws(JSONError) -> Bool? {
    if case .object = source, let value = try member(name), value.kind == .bool { return try value.bool() }
    return try text(name).flatMap(LenientValue.flag)
  }

  /// The texts of an array, or the parts of a text with commas; nil without the member.
  func list(_ name: String) throws(JSONError) -> [String]? {
    if let value = try member(name), value.kind == .array {
      return try value.array { item throws(JSONError) in try LenientValue.text(item) }
    }
    return try text(name).map(LenientValue.list)
  }

  /// An object, or nil for an absent or another member.
  func object(_ name: String) throws(JSONError) -> LenientBody? {
    guard let value = try member(name), value.kind == .object else { return nil }
    return LenientBody(try value.object())
  }

  /// The elements of an array; nil without one.
  func array(_ name: String) throws(JSONError) -> [JSONValue]? {
    guard let value = try member(name), value.kind == .array else { return nil }
    return try value.array()
  }

  /// The members of an object by name; nil without one.
  func members(_ name: String) throws(JSONError) -> [(name: String, value: JSONValue)]? {
    guard let value = try member(name), value.kind == .object else { return nil }
    var object = try value.object()
    return object.members()
  }
}

extension LenientValue {
  static func text(_ value: JSONValue) throws(JSONError) -> String {
    value.kind == .number ? String(try value.int()) : try value.string()
  }
}

/// The body of a request, read at most once.
final class ReceivedBody {
  private let request: Request
  private var collected: [UInt8]?

  /// Bytes of a body in memory. The limit of a route for files is much higher.
  private static let maxBytes = Limits().body

  init(_ request: Request) { self.request = request }

  var type: MediaType? { request.fields["content-type"].flatMap { MediaType($0) } }

  /// A form with files is read in parts.
  var isMultipart: Bool { type?.isMultipartForm == true }

  func bytes() async throws -> [UInt8] {
    if let collected { return collected }
    let all = try await request.body.collect(limit: Self.maxBytes)
    collected = all
    return all
  }

  /// A JSON array; nil for another body, which has members.
  func list() async throws -> JSONValue? {
    guard !isMultipart, type?.isForm != true else { return nil }
    let bytes = try await bytes()
    guard bytes.first(where: { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }) == UInt8(ascii: "[") else { return nil }
    let list = try JSONValue(parsing: bytes)
    try list.requireFiniteNumbers()
    return list
  }

  func members() async throws -> LenientBody {
    if isMultipart { return try await FormUpload.fields(of: request) }
    return try LenientBody(try await bytes(), type: type)
  }
}
