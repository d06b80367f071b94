import Foundation
import ParleyJSON
import ParleyWire
import Synchronization
import TestSupport
import Testing
import Web

@testable import API

/// `Public/openapi.json`, and whether an answer is as it says. Stricter than JSON Schema in two ways: a keyword that is not
/// known here is a fault of the document, and a member that stands nowhere in it is one of the answer.
struct Description: Sendable {
  let document: Tree

  static let shipped: Description? = {
    let file = Checkout.root.appending(path: "Public/openapi.json")
    return try? Description(document: Tree(parsing: Array(Data(contentsOf: file))))
  }()

  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  /// What it says of an endpoint; nil if it doesn't know it.
  func operation(_ method: ParleyWire.Method, _ path: String) throws -> Tree? {
    guard let item = document["paths"]?[path] else { return nil }
    return item[method.name.lowercased()]
  }

  /// Each of its operations, as `get /server`.
  var operations: Set<String> {
    var all: Set<String> = []
    for (path, item) in document["paths"]?.members ?? [:] {
      for method in item.members.keys { all.insert("\(method) \(path)") }
    }
    return all
  }

  // MARK: Answers

  /// Throws what is not as the document says. What is asked of no endpoint is not in it.
  func check(_ answer: Answer, to method: ParleyWire.Method, _ target: String) throws {
    let path = String(target.prefix { $0 != "?" })
    guard let endpoint = Self.endpoint(method == .head ? .get : method, path) else { return }
    guard let operation = try operation(endpoint.method, endpoint.path) else {
      throw Fault(description: "it has no \(endpoint.method.name) \(endpoint.path)")
    }
    guard let said = operation["responses"]?["\(answer.status)"] else {
      throw Fault(description: "no \(answer.status)")
    }
    let response = try followed(said)
    for (name, header) in response["headers"]?.members ?? [:] {
      guard let value = answer.fields.value(of: name) else {
        if header["required"] == .bool(true) { throw Fault(description: "there is no \(name)") }
        continue
      }
      try check(.string(value), header["schema"] ?? .null, at: name)
    }
    guard let content = response["content"] else {
      guard answer.body.isEmpty else { throw Fault(description: "a body that it does not speak of") }
      return
    }
    guard method != .head, answer.fields["content-encoding"] == nil else { return }
    let type = answer.fields["content-type"] ?? ""
    guard let schema = (content[type] ?? content["*/*"])?["schema"] else { throw Fault(description: "no \(type)") }
    let body =
      type.hasSuffix("json") ? try Tree(parsing: answer.body) : .string(answer.text)
    try check(body, schema, at: "")
  }

  private static let endpoints = API.endpoints.flatMap { endpoint in
    endpoint.paths.map { (endpoint, $0.split(separator: "/")) }
  }

  /// The endpoint that answers, as the router chooses: words before variables.
  private static func endpoint(_ method: ParleyWire.Method, _ path: String) -> Endpoint? {
    let parts = path.split(separator: "/")
    let fitting = endpoints.filter { endpoint, pattern in
      endpoint.method == method && pattern.count == parts.count
        && zip(pattern, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
    return fitting.min { one, other in
      one.1.lexicographicallyPrecedes(other.1) { !$0.hasPrefix("{") && $1.hasPrefix("{") }
    }?.0
  }

  func followed(_ tree: Tree) throws -> Tree {
    guard case .string(let reference)? = tree["$ref"] else { return tree }
    let steps = reference.dropFirst(2).split(separator: "/").map(String.init)
    let found = steps.reduce(Optional(document)) { $0?[$1] }
    guard reference.hasPrefix("#/"), let found else { throw Fault(description: "\(reference) leads nowhere") }
    return found
  }

  // MARK: Values

  /// Each is read once: that takes longer than asking it.
  private static let patterns = Mutex<[String: Regex<AnyRegexOutput>]>([:])

  private static func fits(_ text: String, _ pattern: String) throws -> Bool {
    try patterns.withLock { patterns in
      let regex = try patterns[pattern] ?? Regex(pattern)
      patterns[pattern] = regex
      return text.contains(regex)
    }
  }

  private static let annotations: Set<String> = ["description", "examples", "default"]

  func check(_ value: Tree, _ schema: Tree, at place: String) throws {
    let schema = try followed(schema)
    func expect(_ isSo: Bool, _ keyword: String) throws {
      if !isSo {
        throw Fault(description: "\(place.isEmpty ? "the body" : place) is not as \(keyword) has it: \(value)")
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
      case ("minimum", .number(let least)): if case .number(let number) = value { try expect(number >= least, keyword) }
      case ("maximum", .number(let most)): if case .number(let number) = value { try expect(number <= most, keyword) }
      case ("minLength", .number(let least)):
        if case .string(let text) = value { try expect(text.unicodeScalars.count >= Int(least), keyword) }
      case ("maxLength", .number(let most)):
        if case .string(let text) = value { try expect(text.unicodeScalars.count <= Int(most), keyword) }
      case ("required", .array(let names)):
        for case .string(let name) in names { try expect(value[name] != nil, "required, \(name),") }
      case ("properties", .object(let properties)):
        for (name, member) in value.members {
          if let property = properties[name] {
            try check(member, property, at: "\(place).\(name)")
          } else if schema["additionalProperties"] == nil {
            throw Fault(description: "\(place).\(name) is not in it")
          }
        }
      case ("additionalProperties", .bool(let allowed)):
        let unknown = Set(value.members.keys).subtracting((schema["properties"]?.members ?? [:]).keys)
        try expect(allowed || unknown.isEmpty, "additionalProperties")
      case ("additionalProperties", .object):
        let known = Set((schema["properties"]?.members ?? [:]).keys)
        for (name, member) in value.members where !known.contains(name) {
          try check(member, rule, at: "\(place).\(name)")
        }
      case ("items", .object):
        if case .array(let items) = value {
          for (index, item) in items.enumerated() { try check(item, rule, at: "\(place)[\(index)]") }
        }
      case ("maxItems", .number(let most)):
        if case .array(let items) = value { try expect(items.count <= Int(most), keyword) }
      case ("oneOf", .array(let choices)): try check(value, try choice(of: value, among: choices, schema), at: place)
      case ("discriminator", .object): break
      case ("anyOf", .array(let choices)):
        try expect(
          choices.contains { try hasType(of: $0, value) && (try? check(value, $0, at: place)) != nil }, "anyOf")
      default: throw Fault(description: "its keyword \(keyword) is not understood")
      }
    }
  }
}

extension Description {
  /// Asked before the rest, because a fault that is thrown costs a test a backtrace.
  private func hasType(of schema: Tree, _ value: Tree) throws -> Bool {
    guard case .string(let type)? = try followed(schema)["type"] else { return true }
    return value.isOf(type)
  }

  /// Which of several schemas a value is to be held to: its discriminator says so.
  private func choice(of value: Tree, among choices: [Tree], _ schema: Tree) throws -> Tree {
    let discriminator = schema["discriminator"] ?? .null
    guard case .string(let property)? = discriminator["propertyName"], case .string(let word)? = value[property],
      let reference = discriminator["mapping"]?[word]
    else { throw Fault(description: "no discriminator chooses for \(value)") }
    let chosen = Tree.object(["$ref": reference])
    guard choices.contains(chosen) else { throw Fault(description: "\(reference) is none of oneOf") }
    return chosen
  }
}

extension Fields {
  fileprivate func value(of name: String) -> String? {
    (0..<count).first { self.name(at: $0).lowercased() == name.lowercased() }.map { value(at: $0) }
  }
}

/// A JSON text as a value.
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
