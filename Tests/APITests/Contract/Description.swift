import Foundation
import ParleyJSON
import ParleyWire
import Synchronization
import TestSupport
import Testing
import Web

@testable import API

/// Checks answers against `Public/openapi.json`. Stricter than JSON Schema in two ways: an unknown keyword is an error
/// of the document, and an undocumented member is an error of the answer.
struct Description: Sendable {
  let document: Tree

  static let shipped: Description? = {
    let file = Checkout.root.appending(path: "Public/openapi.json")
    return try? Description(document: Tree(parsing: Array(Data(contentsOf: file))))
  }()

  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  /// The operation of an endpoint; nil if it is not documented.
  func operation(_ method: ParleyWire.Method, _ path: String) throws -> Tree? {
    guard let item = document["paths"]?[path] else { return nil }
    return item[method.name.lowercased()]
  }

  /// All operations, such as `get /server`.
  var operations: Set<String> {
    var all: Set<String> = []
    for (path, item) in document["paths"]?.members ?? [:] {
      for method in item.members.keys { all.insert("\(method) \(path)") }
    }
    return all
  }

  // MARK: Answers

  /// Throws on a mismatch. Unknown endpoints are not checked.
  func check(_ answer: Answer, to method: ParleyWire.Method, _ target: String) throws {
    let path = String(target.prefix { $0 != "?" })
    guard let endpoint = Self.endpoint(method == .head ? .get : method, path) else { return }
    guard let operation = try operation(endpoint.method, endpoint.path) else {
      throw Fault(description: "undocumented endpoint \(endpoint.method.name) \(endpoint.path)")
    }
    guard let documented = operation["responses"]?["\(answer.status)"] else {
      throw Fault(description: "undocumented status \(answer.status)")
    }
    let response = try resolved(documented)
    for (name, declared) in response["headers"]?.members ?? [:] {
      let header = try resolved(declared)
      guard let value = answer.fields.value(of: name) else {
        if header["required"] == .bool(true) { throw Fault(description: "missing \(name)") }
        continue
      }
      try check(.string(value), header["schema"] ?? .null, at: name)
    }
    guard let content = response["content"] else {
      guard answer.body.isEmpty else { throw Fault(description: "undocumented body") }
      return
    }
    guard method != .head, answer.fields["content-encoding"] == nil else { return }
    let type = answer.fields["content-type"] ?? ""
    let essence = String(type.prefix { $0 != ";" })
    guard let schema = (content[essence] ?? content[type] ?? content["*/*"])?["schema"] else {
      throw Fault(description: "undocumented type \(type)")
    }
    let body =
      type.hasSuffix("json") ? try Tree(parsing: answer.body) : .string(answer.text)
    try check(body, schema, at: "")
  }

  /// The endpoints with the segments of their paths, by method and number of segments: each answer of the tests is looked up here.
  private static let endpoints = Dictionary(
    grouping: API.endpoints.flatMap { endpoint in endpoint.paths.map { (endpoint, $0.split(separator: "/")) } }
  ) { key($0.0.method, $0.1) }

  private static func key(_ method: ParleyWire.Method, _ segments: [Substring]) -> String {
    "\(method.name) \(segments.count)"
  }

  /// The matching endpoint. Literal segments precede variables, as in the router.
  private static func endpoint(_ method: ParleyWire.Method, _ path: String) -> Endpoint? {
    let parts = path.split(separator: "/")
    let fitting = (endpoints[key(method, parts)] ?? []).filter { _, pattern in
      zip(pattern, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
    return fitting.min { one, other in
      one.1.lexicographicallyPrecedes(other.1) { !$0.hasPrefix("{") && $1.hasPrefix("{") }
    }?.0
  }

  func resolved(_ tree: Tree) throws -> Tree {
    guard case .string(let reference)? = tree["$ref"] else {
      guard case .array(let parts)? = tree["allOf"] else { return tree }
      return try parts.reduce(tree.without("allOf"), including)
    }
    let steps = reference.dropFirst(2).split(separator: "/").map(String.init)
    let found = steps.reduce(Optional(document)) { $0?[$1] }
    guard reference.hasPrefix("#/"), let found else { throw Fault(description: "unresolved reference \(reference)") }
    return try resolved(found)
  }

  /// An object schema with the properties of another.
  private func including(_ schema: Tree, _ part: Tree) throws -> Tree {
    let part = try resolved(part)
    var members = schema.members
    members["properties"] = .object(
      (part["properties"]?.members ?? [:]).merging(schema["properties"]?.members ?? [:]) { $1 })
    members["required"] = .array((part["required"]?.items ?? []) + (schema["required"]?.items ?? []))
    return .object(members)
  }

  // MARK: Values

  /// Compiled patterns: compiling costs more than matching.
  private static let patterns = Mutex<[String: Regex<AnyRegexOutput>]>([:])

  private static func fits(_ text: String, _ pattern: String) throws -> Bool {
    try patterns.withLock { patterns in
      let regex = try patterns[pattern] ?? Regex(pattern)
      patterns[pattern] = regex
      return text.contains(regex)
    }
  }

  private static let annotations: Set<String> = ["description", "examples", "default", "format"]

  func check(_ value: Tree, _ schema: Tree, at location: String) throws {
    let schema = try resolved(schema)
    func expect(_ isSo: Bool, _ keyword: String) throws {
      if !isSo {
        throw Fault(description: "\(location.isEmpty ? "the body" : location) violates \(keyword): \(value)")
      }
    }
    for (keyword, rule) in schema.members where !Self.annotations.contains(keyword) {
      switch (keyword, rule) {
      case ("type", .string(let type)): try expect(value.isOf(type), "type")
      case ("type", .array(let types)):
        try expect(types.contains { if case .string(let type) = $0 { value.isOf(type) } else { false } }, "type")
      case ("enum", .array(let values)): try expect(values.contains(value), "enum")
      case ("pattern", .string(let pattern)):
        if case .string(let text) = value { try expect(Self.fits(text, pattern), "pattern") }
      case ("minimum", .number(let minimum)):
        if case .number(let number) = value { try expect(number >= minimum, keyword) }
      case ("maximum", .number(let maximum)):
        if case .number(let number) = value { try expect(number <= maximum, keyword) }
      case ("minLength", .number(let minimum)):
        if case .string(let text) = value { try expect(text.unicodeScalars.count >= Int(minimum), keyword) }
      case ("maxLength", .number(let maximum)):
        if case .string(let text) = value { try expect(text.unicodeScalars.count <= Int(maximum), keyword) }
      case ("required", .array(let names)):
        for case .string(let name) in names { try expect(value[name] != nil, "required, \(name),") }
      case ("properties", .object(let properties)):
        for (name, member) in value.members {
          if let property = properties[name] {
            try check(member, property, at: "\(location).\(name)")
          } else if schema["additionalProperties"] == nil {
            throw Fault(description: "\(location).\(name) is not documented")
          }
        }
      case ("additionalProperties", .bool(let allowed)):
        let unknown = Set(value.members.keys).subtracting((schema["properties"]?.members ?? [:]).keys)
        try expect(allowed || unknown.isEmpty, "additionalProperties")
      case ("additionalProperties", .object):
        let known = Set((schema["properties"]?.members ?? [:]).keys)
        for (name, member) in value.members where !known.contains(name) {
          try check(member, rule, at: "\(location).\(name)")
        }
      case ("items", .object):
        if case .array(let items) = value {
          for (index, item) in items.enumerated() { try check(item, rule, at: "\(location)[\(index)]") }
        }
      case ("maxItems", .number(let maximum)):
        if case .array(let items) = value { try expect(items.count <= Int(maximum), keyword) }
      case ("minItems", .number(let minimum)):
        if case .array(let items) = value { try expect(items.count >= Int(minimum), keyword) }
      case ("uniqueItems", .bool(true)):
        if case .array(let items) = value { try expect(Set(items).count == items.count, keyword) }
      case ("contentMediaType", .string(let type)):
        try expect(type == "application/json", keyword)
        if case .string(let text) = value { try expect((try? Tree(parsing: Array(text.utf8))) != nil, keyword) }
      case ("oneOf", .array(let choices)): try check(value, try choice(of: value, among: choices, schema), at: location)
      case ("discriminator", .object): break
      case ("anyOf", .array(let choices)):
        try expect(
          choices.contains { try hasType(of: $0, value) && (try? check(value, $0, at: location)) != nil }, "anyOf")
      default: throw Fault(description: "unknown keyword \(keyword)")
      }
    }
  }
}

extension Description {
  /// Checked first, because a thrown error costs a test a backtrace.
  private func hasType(of schema: Tree, _ value: Tree) throws -> Bool {
    guard case .string(let type)? = try resolved(schema)["type"] else { return true }
    return value.isOf(type)
  }

  /// Chooses the schema by the discriminator.
  private func choice(of value: Tree, among choices: [Tree], _ schema: Tree) throws -> Tree {
    let discriminator = schema["discriminator"] ?? .null
    guard case .string(let property)? = discriminator["propertyName"], case .string(let name)? = value[property],
      let reference = discriminator["mapping"]?[name]
    else { throw Fault(description: "no schema of oneOf matches \(value)") }
    let chosen = Tree.object(["$ref": reference])
    guard choices.contains(chosen) else { throw Fault(description: "\(reference) is not in oneOf") }
    return chosen
  }
}

extension Fields {
  fileprivate func value(of name: String) -> String? {
    (0..<count).first { self.name(at: $0).lowercased() == name.lowercased() }.map { value(at: $0) }
  }
}

/// A parsed JSON value.
indirect enum Tree: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([Tree])
  case object([String: Tree])

  init(parsing text: [UInt8]) throws { self = try Tree(JSONValue(parsing: text)) }

  init(_ value: JSONValue) throws {
    self =
      switch value.kind {
      case .null: .null
      case .bool: .bool(try value.bool())
      case .number: .number(try value.double())
      case .string: .string(try value.string())
      case .array: .array(try value.array().map(Tree.init))
      case .object: .object(try Self.members(of: value))
      }
  }

  private static func members(of value: JSONValue) throws -> [String: Tree] {
    var object = try value.object()
    var members: [String: Tree] = [:]
    for (name, value) in object.members() { members[name] = try Tree(value) }
    return members
  }

  var members: [String: Tree] { if case .object(let members) = self { members } else { [:] } }
  var items: [Tree] { if case .array(let items) = self { items } else { [] } }
  subscript(_ name: String) -> Tree? { members[name] }

  func without(_ name: String) -> Tree { .object(members.filter { $0.key != name }) }

  func isOf(_ type: String) -> Bool {
    switch (self, type) {
    case (.null, "null"), (.bool, "boolean"), (.number, "number"), (.string, "string"), (.array, "array"),
      (.object, "object"):
      true
    case (.number(let number), "integer"): number == number.rounded()
    default: false
    }
  }
}
