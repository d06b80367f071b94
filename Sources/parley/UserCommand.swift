// `parley user …`: who is here, and as what.

import ParleyJSON
import ParleyWire

enum UserCommand {
  /// By the word after `user`.
  static let all: [String: HostCommand] = [
    "add": HostCommand(name: "user add", operands: ["NAME"], settings: [.role, .passwordStdin], run: add),
    "list": HostCommand(name: "user list", settings: [.json], run: list),
    "role": HostCommand(name: "user role", operands: ["NAME", "ROLE"], run: setRole),
    "disable": HostCommand(name: "user disable", operands: ["NAME"], run: disable),
    "enable": HostCommand(name: "user enable", operands: ["NAME"], run: enable),
    "reset": HostCommand(name: "user reset", operands: ["NAME"], run: reset),
  ]

  static func run(_ arguments: [String]) async -> Int32 {
    guard let word = arguments.first, let command = all[word] else {
      let words = all.keys.sorted().joined(separator: ", ")
      return Outcome(.impossible, "parley user takes one of \(words). parley user --help says more.").tell()
    }
    return await command.run(Array(arguments.dropFirst()))
  }

  @Sendable private static func add(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    guard settings.isOn(.passwordStdin) else {
      throw Settings.Mistake(sentence: "--password-stdin is needed: the password is read from standard input.")
    }
    guard let password = readLine(), !password.isEmpty else {
      throw Settings.Mistake(sentence: "Standard input has no line with a password.")
    }
    let (name, role) = (settings.operands[0], settings.text(.role) ?? "member")
    _ = try await client.answer(.post, "/users") { json in
      json.field("name", name)
      json.field("role", role)
      json.field("password", password)
    }
    return Outcome(.well, "\(name) is here now, as \(role).")
  }

  @Sendable private static func list(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    var people: [JSONValue] = []
    var next: String?
    repeat {
      var page = try await client.answer(.get, "/users" + (next.map { "?next=\($0)" } ?? ""))
      people += try page.value("data").array()
      next = try page.optional("next")
    } while next != nil
    if settings.isOn(.json) {
      return Outcome(.well, people.map { String(decoding: $0.raw.bytes, as: UTF8.self) }.joined(separator: "\n"))
    }
    return Outcome(.well, try table(people))
  }

  private static func table(_ people: [JSONValue]) throws -> String {
    var rows = [["NAME", "ROLE", "STATE", "SINCE", "LAST SEEN"]]
    for person in people {
      var person = try person.object()
      let seen: String? = try person.optional("last_seen_at")
      rows.append([
        try person.string("name"), try person.string("role"), try person.string("state"),
        String(try person.string("created_at").prefix(10)), seen.map { String($0.prefix(10)) } ?? "never",
      ])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      zip(row.dropLast(), widths).map { $0 + String(repeating: " ", count: $1 - $0.count + 2) }.joined() + row[4]
    }.joined(separator: "\n")
  }

  @Sendable private static func setRole(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let (name, role) = (settings.operands[0], settings.operands[1])
    try await change(name, client) { json in json.field("role", role) }
    return Outcome(.well, "\(name) is \(role) now.")
  }

  @Sendable private static func disable(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let name = settings.operands[0]
    try await change(name, client) { json in json.field("disabled", true) }
    return Outcome(.well, "\(name) is kept out, and signed out everywhere.")
  }

  @Sendable private static func enable(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    let name = settings.operands[0]
    try await change(name, client) { json in json.field("disabled", false) }
    return Outcome(.well, "\(name) may come in.")
  }

  private static func change(
    _ name: String, _ client: ControlClient, _ members: (inout JSONWriter) -> Void
  ) async throws {
    _ = try await client.answer(.patch, try path(name)) { json in
      members(&json)
      json.field("reason", "By a command of the host.")
    }
  }

  @Sendable private static func reset(_ settings: Settings, _ client: ControlClient) async throws -> Outcome {
    var answer = try await client.answer(.post, try path(settings.operands[0]) + "/reset")
    return Outcome(.well, try answer.string("url"))
  }

  /// Where the API for the host has somebody of this name.
  static func path(_ name: String) throws(Settings.Mistake) -> String {
    let isPlain = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
    guard isPlain, !name.isEmpty else { throw Settings.Mistake(sentence: "\"\(name)\" is no name.") }
    return "/users/@\(name)"
  }
}
