import Foundation
import Testing

/// Tables of other files that follow from the dependencies in Package.swift.
@Suite struct DependencyTests {
  /// The direct dependencies of each target.
  private static let dependencies: [String: Set<String>] = {
    guard let manifest = try? text("Package.swift"),
      let entry = try? Regex(
        #"(?m)^  (?:sources|program|tests|support|\.\w*[tT]arget|\.systemLibrary)\(\s*(?:name: )?"([\w-]+)""#),
      let quoted = try? Regex(#""([\w-]+)""#)
    else { return [:] }
    let entries = manifest.matches(of: entry)
    let ends = entries.dropFirst().map(\.range.lowerBound) + [manifest.endIndex]
    let names = Set(entries.compactMap { $0.output[1].substring.map(String.init) })
    var found: [String: Set<String>] = [:]
    for (entry, end) in zip(entries, ends) {
      guard let name = entry.output[1].substring.map(String.init) else { continue }
      // A list of targets ends with a bracket in the first column.
      let arguments = manifest[entry.range.upperBound..<end].components(separatedBy: "\n]")[0]
      found[name] = Set(arguments.matches(of: quoted).compactMap { $0.output[1].substring.map(String.init) })
        .intersection(names)
    }
    return found
  }()

  /// The targets that a target reaches; the support of the tests passes on nothing.
  private static func reached(from target: String, along edges: [String: Set<String>] = dependencies) -> Set<String> {
    var found: Set<String> = []
    var open = Array(edges[target] ?? [])
    while let next = open.popLast() {
      if found.insert(next).inserted { open += edges[next] ?? [] }
    }
    return found
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: Package.root.appending(path: path), encoding: .utf8)
  }

  @Test func `the diagram of the sources has the dependencies of Package swift`() throws {
    let arrow = try Regex(#"(?m)^([\w-]+) +─▶ (.+)$"#)
    var drawn: [String: Set<String>] = [:]
    for match in try Self.text("Sources/README.md").matches(of: arrow) {
      let target = try #require(match.output[1].substring)
      drawn[String(target)] = Set(try #require(match.output[2].substring).split(separator: ", ").map(String.init))
    }
    for target in try Package.targets.keys {
      let direct = try #require(Self.dependencies[target])
      let others = direct.map { Self.reached(from: $0) }.reduce(into: Set()) { $0.formUnion($1) }
      #expect(drawn.removeValue(forKey: target) ?? [] == direct.subtracting(others), "\(target)")
    }
    #expect(drawn.isEmpty)
  }

  /// The part of `Tests/run` that has a target of Swift tests.
  private static func part(of tests: String) -> String {
    switch tests {
    case "StorageTests", "CrashTests", "SQLiteTests": "store"
    case "APITests", "CommunityTests", "ModelTests", "MarkupTests": "community"
    case "CheckerTests": "checkers"
    case "ParleyKitTests", "HTTPClientTests": "kit"
    // Tests of the parts `bells` and `doors`, which a change of `clients` runs, too.
    case "MailTests", "WebPushTests", "OAuthTests", "OIDCTests", "WebAuthnTests": "clients"
    default: "bytes"
    }
  }

  /// The parts of `Tests/run` that run code of a target.
  private static func parts(running target: String) -> Set<String> {
    // Each test links the support of the tests. That says nothing about the code it runs.
    let edges = dependencies.filter { $0.key != "TestSupport" }
    let users = edges.keys.filter { $0 == target || reached(from: $0, along: edges).contains(target) }
    var parts = Set(users.filter { $0.hasSuffix("Tests") && $0 != "ArchitectureTests" }.map(part))
    if users.contains("parley") { parts.formUnion(["clients", "consumer"]) }
    if users.contains("API") || users.contains("Serving") { parts.insert("web") }
    if users.contains("ParleyKit") { parts.insert("consumer") }
    if users.contains("parley-bench") { parts.insert("bench") }
    return parts
  }

  @Test func `a change of a target runs the parts that depend on it`() throws {
    #expect(Self.parts(running: "Media").isSuperset(of: ["bytes", "community", "kit", "clients", "web"]))
    #expect(!Self.parts(running: "Media").contains("bench"))
    let row = try Regex(#"(?m)^    \("([^"]*)", \[([^\]]*)\]\)"#)
    let rows = try Self.text("Tests/run").matches(of: row).map { match in
      (prefix: String(match.output[1].substring ?? ""), parts: String(match.output[2].substring ?? ""))
    }
    for (target, folder) in try Package.targets where !folder.hasPrefix("Sources/System/") {
      let first = try #require(rows.first { (folder + "/").hasPrefix($0.prefix) }, "\(folder)")
      let listed = Set(first.parts.split(separator: "\"").map(String.init))
      #expect(Self.parts(running: target).subtracting(listed) == [], "\(target)")
    }
  }
}
