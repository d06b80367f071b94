import Foundation
import ParleyCrypto
import ParleyModel
import ParleyWire
import TestSupport
import Testing
import Web

@testable import API

@Suite struct DescriptionTests {
  private let description: Description

  init() throws { description = try #require(Description.shipped, "Public/openapi.json can't be read") }

  @Test func `the document has every endpoint and no other`() {
    let served = Set(API.endpoints.map { "\($0.method.name.lowercased()) \($0.path)" })
    #expect(served.subtracting(description.operations).isEmpty, "not in Public/openapi.json")
    #expect(description.operations.subtracting(served).isEmpty, "not served")
  }

  @Test func `the document states the security of each operation`() throws {
    for endpoint in API.endpoints {
      guard let operation = try description.operation(endpoint.method, endpoint.path) else { continue }
      let schemes = (operation["security"]?.items ?? []).map(\.members)
      switch endpoint.access {
      case .anyone, .webhook, .invocation, .client, .controlSocket:
        #expect(schemes.contains { $0.isEmpty }, "\(endpoint.path)")
      case .user(let scope):
        #expect(Set(schemes.flatMap(\.keys)) == ["bearer", "cookie"], "\(endpoint.path)")
        #expect(
          schemes.allSatisfy { $0.values.allSatisfy { $0 == .array([.string(scope.rawValue)]) } }, "\(endpoint.path)")
      }
    }
  }

  @Test func `the document names the variables of each path`() throws {
    for endpoint in API.endpoints {
      guard let operation = try description.operation(endpoint.method, endpoint.path) else { continue }
      let parameters = try (operation["parameters"]?.items ?? []).map { try description.resolved($0) }
      let named = parameters.filter { $0["in"] == .string("path") }.map { $0["name"] ?? .null }
      let variables = endpoint.path.split(separator: "/").filter { $0.hasPrefix("{") }
      #expect(Set(named) == Set(variables.map { .string(String($0.dropFirst().dropLast())) }), "\(endpoint.path)")
    }
  }

  @Test func `operations that change state document a query where they accept one`() throws {
    for endpoint in API.endpoints where !endpoint.method.isSafe {
      guard let operation = try description.operation(endpoint.method, endpoint.path) else { continue }
      let parameters = try (operation["parameters"]?.items ?? []).map { try description.resolved($0) }
      let takesQuery = parameters.contains { $0["in"] == .string("query") }
      #expect(takesQuery == endpoint.takesQuery, "\(endpoint.method.name) \(endpoint.path)")
    }
  }

  @Test func `operations document their rate limits, and errors of queries and bodies`() throws {
    for endpoint in API.endpoints {
      guard let operation = try description.operation(endpoint.method, endpoint.path) else { continue }
      let statuses = Set((operation["responses"]?.members ?? [:]).keys)
      // A request line that is too long is refused before the route is known.
      var needed: Set<String> = ["414", "503"]
      // The secret in the path is the only credential.
      if ![.webhook, .invocation].contains(endpoint.access) { needed.insert("401") }
      if endpoint.rateLimit != nil { needed.formUnion(["403", "429"]) }
      if operation["requestBody"] != nil { needed.formUnion(["400", "413", "415"]) }
      // No route has a variable with a control character or a slash.
      if endpoint.path.contains("{") { needed.insert("404") }
      let parameters = try (operation["parameters"]?.items ?? []).map { try description.resolved($0) }
      if parameters.contains(where: { $0["in"] == .string("query") }) { needed.insert("400") }
      #expect(needed.subtracting(statuses).isEmpty, "\(endpoint.method.name) \(endpoint.path)")
    }
  }

  @Test func `examples match their schemas`() throws {
    for (path, item) in description.document["paths"]?.members ?? [:] {
      for operation in item.members.values {
        guard let body = operation["requestBody"]?["content"]?["application/json"], let example = body["example"] else {
          continue
        }
        #expect(throws: Never.self, "\(path)") { try description.check(example, body["schema"] ?? .null, at: path) }
      }
    }
  }

  @Test func `examples inside schemas and responses are valid`() throws {
    for (name, schema) in description.document["components"]?["schemas"]?.members ?? [:] {
      for example in schema["examples"]?.items ?? [] {
        #expect(throws: Never.self, "\(name)") { try description.check(example, schema, at: name) }
      }
    }
    for (path, item) in description.document["paths"]?.members ?? [:] {
      for response in item.members.values.flatMap({ ($0["responses"]?.members ?? [:]).values }) {
        let content = response["content"]?["application/json"]
        if let example = content?["example"] {
          #expect(throws: Never.self, "\(path)") {
            try description.check(example, content?["schema"] ?? .null, at: path)
          }
        }
        for (name, example) in content?["examples"]?.members ?? [:] {
          #expect(throws: Never.self, "\(path) \(name)") {
            try description.check(example["value"] ?? .null, content?["schema"] ?? .null, at: name)
          }
        }
      }
    }
  }

  @Test func `every answer declares its quota`() throws {
    let names = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]
    for endpoint in API.endpoints {
      let operation = try #require(try description.operation(endpoint.method, endpoint.path))
      // The answer that opens a WebSocket is no answer of the API.
      for (status, response) in operation["responses"]?.members ?? [:] where status != "101" {
        let headers = try description.resolved(response)["headers"]?.members ?? [:]
        #expect(names.allSatisfy { headers[$0] != nil }, "\(endpoint.method.name) \(endpoint.path) \(status)")
      }
    }
  }

  @Test func `every operation has a description and an example of its answers`() throws {
    for endpoint in API.endpoints {
      let operation = try #require(try description.operation(endpoint.method, endpoint.path))
      #expect(operation["description"] != nil, "\(endpoint.method.name) \(endpoint.path)")
      let contents = (operation["responses"]?.members ?? [:]).filter { $0.key.hasPrefix("2") }.compactMap {
        $0.value["content"]?["application/json"]
      }
      #expect(
        contents.allSatisfy { $0["example"] != nil || $0["examples"] != nil },
        "\(endpoint.method.name) \(endpoint.path)")
    }
    for tag in description.document["tags"]?.items ?? [] { #expect(tag["description"] != nil, "\(tag)") }
  }

  @Test func `every parameter and every schema has a description`() throws {
    let components = try #require(description.document["components"])
    for part in ["schemas", "parameters"] {
      let described = components[part]?.members ?? [:]
      #expect(described.count > 3, "\(part)")
      for (name, object) in described { #expect(object["description"] != nil, "\(part) \(name)") }
    }
    for endpoint in API.endpoints {
      guard let operation = try description.operation(endpoint.method, endpoint.path) else { continue }
      for parameter in operation["parameters"]?.items ?? [] where parameter["$ref"] == nil {
        #expect(parameter["description"] != nil, "\(endpoint.method.name) \(endpoint.path): \(parameter)")
      }
    }
  }

  @Test func `no schema is null alone, and bytes are binary`() {
    func check(_ tree: Tree, _ path: String) {
      #expect(tree["type"] != .string("null") || path.contains("anyOf"), "\(path)")
      for (name, member) in tree.members {
        let isBytes = name == "*/*" || name == "application/octet-stream" || name == "application/x-tar"
        if isBytes { #expect(member["schema"]?["format"] == .string("binary"), "\(path)") }
        if name != "example", name != "examples" { check(member, "\(path).\(name)") }
      }
      for item in tree.items { check(item, path) }
    }
    check(description.document, "")
  }

  @Test func `the document lists the codes of all problems`() throws {
    func listed(_ schema: String) -> Set<String> {
      let values = description.document["components"]?["schemas"]?[schema]?["enum"]?.items ?? []
      return Set(values.compactMap { if case .string(let code) = $0 { code } else { nil } })
    }
    // The codes that sources name, and those of user states. A client that has left receives none.
    let server = Checkout.root.appending(path: "Sources/Server")
    let sources = try #require(FileManager.default.enumerator(atPath: server.path(percentEncoded: false)))
    var codes = Set(UserState.allCases.filter { $0 != .active }.map { "account_\($0.rawValue)" })
    for case let file as String in sources where file.hasSuffix(".swift") {
      let text = try String(contentsOf: server.appending(path: file), encoding: .utf8)
      codes.formUnion(text.matches(of: /Problem\(\s*(?:refused: )?\.\w+, code: "([a-z_]+)"/).map { String($0.1) })
    }
    codes.remove("disconnected")
    func codeTable(_ file: String, _ start: String) throws -> Set<String> {
      let text = try String(contentsOf: Checkout.root.appending(path: file), encoding: .utf8)
      let table = text.components(separatedBy: start).dropFirst().first?.components(separatedBy: "\n  }\n").first ?? ""
      return Set(table.matches(of: /: "([a-z_]+)"/).map { String($0.1) })
    }
    codes.formUnion(try codeTable("Sources/Shared/Model/Refusal.swift", "public var code: String {"))
    codes.formUnion(
      try codeTable(
        "Sources/Server/Serving/ResponseHead.swift", "private static func code(_ status: Status) -> String {"))
    // All fields of a request are unknown.
    codes.insert("unknown_field")
    #expect(codes.count > 25)
    #expect(codes == listed("ProblemCode"), "\(codes.symmetricDifference(listed("ProblemCode")))")
    let fields = try codeTable("Sources/Shared/Model/Refusal.swift", "public var name: String {")
      .union(codeTable("Sources/Shared/JSON/JSONError.swift", "public var code: String {"))
      .union(PasskeyFault.allCases.map(\.rawValue))
    #expect(fields == listed("FieldCode"), "\(fields.symmetricDifference(listed("FieldCode")))")
  }

  @Test func `test vectors are digests of their lines`() throws {
    let operation = try #require(try description.operation(.get, "/conversations/{id}/digest"))
    let examples = operation["responses"]?["200"]?["content"]?["application/json"]?["examples"]?.members ?? [:]
    #expect(examples.count == 3)
    for (name, example) in examples {
      guard case .string(let lines)? = example["description"] else {
        Issue.record("\(name) has no lines")
        continue
      }
      func digest(_ text: some StringProtocol) throws -> Tree {
        .string(Hex.text(try Digest.sha256(of: Array(text.utf8))))
      }
      #expect(example["value"]?["digest"] == (try digest(lines)), "\(name)")
      let parts = example["value"]?["parts"]?.items ?? []
      #expect(parts.map { $0["digest"] } == (try lines.split(separator: "\n").map { try digest($0 + "\n") }), "\(name)")
    }
  }

  private static let example: Tree = .object([
    "id": .string("7"), "name": .string("Laptop"), "scope": .string("write"), "created_at": .string(noon),
    "last_used_at": .null, "expires_at": .string(noon), "address": .null, "current": .bool(true),
    "forums": .null, "rate_limit": .null,
  ])
  private static let noon = "2026-11-20T12:00:00.000Z"
  private static let session: Tree = .object(["$ref": .string("#/components/schemas/Session")])

  @Test(arguments: [
    ("id", Tree.number(7)), ("id", .string("07")), ("scope", .string("all")), ("scope", .null),
    ("created_at", .string("today")), ("created_at", nil), ("more", .bool(true)),
  ])
  func `a mismatch is reported`(name: String, value: Tree?) throws {
    var members = Self.example.members
    members[name] = value
    try description.check(Self.example, Self.session, at: "")
    #expect(throws: Description.Fault.self) { try description.check(.object(members), Self.session, at: "") }
  }

  @Test func `a list over its maximum is reported`() throws {
    let schema: Tree = .object(["$ref": .string("#/components/schemas/Discovery")])
    func check(_ count: Int) throws {
      let addresses = Array(repeating: Tree.string("grace@example.org"), count: count)
      try description.check(.object(["addresses": .array(addresses)]), schema, at: "")
    }
    try check(200)
    #expect(throws: Description.Fault.self) { try check(201) }
  }

  @Test func `an unknown member of a closed schema is reported`() throws {
    let properties: Tree = .object(["id": .object(["type": .string("string")])])
    let id = Tree.string("7")
    for (rule, isFault) in [(Tree.bool(false), true), (.bool(true), false)] {
      let schema: Tree = .object(["properties": properties, "additionalProperties": rule])
      try description.check(.object(["id": id]), schema, at: "")
      let more: Tree = .object(["id": id, "more": id])
      if isFault {
        #expect(throws: Description.Fault.self) { try description.check(more, schema, at: "") }
      } else {
        try description.check(more, schema, at: "")
      }
    }
    #expect(throws: Description.Fault.self) {
      try description.check(.object(["id": id]), .object(["additionalProperties": .bool(false)]), at: "")
    }
  }

  @Test(arguments: [
    (Method.get, "/server", 418, "{}"), (.get, "/server", 200, "{}"), (.get, "/users/7", 404, #"{"code":"not_found"}"#),
    (.delete, "/sessions/current", 204, "{}"), (.get, "/me", 200, "[]"), (.get, "/users/7/avatar", 200, "{}"),
  ])
  func `an answer that differs from the document is reported`(method: Method, path: String, status: Int, body: String) {
    let type = status < 300 ? "application/json" : "application/problem+json"
    let answer = Answer(status: status, fields: ["Content-Type": type, "ETag": "\"1\""], body: Array(body.utf8))
    #expect(throws: Description.Fault.self) { try description.check(answer, to: method, path) }
  }
}
