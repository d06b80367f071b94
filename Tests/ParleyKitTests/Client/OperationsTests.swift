import Foundation
import TestSupport
import Testing

private let root = Checkout.root

/// Operations such as `GET /users/{id}` that the kit has a function for.
private func calls() throws -> [String] {
  let folder = root.appending(path: "Sources/Kit/ParleyKit/Client/Endpoints")
  let call = try Regex(#"Request\(\s*\.([a-z]+), "([^"]+)""#)
  return try FileManager.default.contentsOfDirectory(atPath: folder.path).flatMap { name in
    let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    return text.matches(of: call).map { match in
      "\((match.output[1].substring ?? "").uppercased()) \(match.output[2].substring ?? "")"
    }
  }
}

@Test func `every operation of the contract has exactly one function, and no other exists`() throws {
  let data = try Data(contentsOf: root.appending(path: "Public/openapi.json"))
  let document = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
  let paths = try #require(document["paths"] as? [String: [String: Any]])
  let operations = paths.flatMap { path, methods in
    methods.keys.filter { $0 != "parameters" }.map { "\($0.uppercased()) \(path)" }
  }
  #expect(try calls().sorted() == operations.sorted())
}
