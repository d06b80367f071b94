import Foundation
import Synchronization
import TestSupport
import Testing

/// Checks the frames of the WebSocket against `Public/asyncapi.json`, as strictly as `Description` checks answers.
struct FrameDescription: Sendable {
  let document: Tree
  /// The schemas of both documents.
  private let schemas: Description

  static let shipped: FrameDescription? = {
    do { return try FrameDescription() } catch {
      Issue.record("Public/asyncapi.json can't be read: \(error)")
      return nil
    }
  }()

  /// Commands with texts that were checked before: clients of one test receive equal frames.
  private static let checked = Mutex<Set<String>>([])

  static let file = Checkout.root.appending(path: "Public/asyncapi.json")

  private init() throws {
    let text = try String(contentsOf: Self.file, encoding: .utf8).replacing("./openapi.json#/", with: "#/")
    document = try Tree(parsing: Array(text.utf8))
    let described = Description.shipped?.document["components"]?["schemas"]?.members ?? [:]
    let own = document["components"]?["schemas"]?.members ?? [:]
    guard Set(described.keys).isDisjoint(with: own.keys) else {
      throw Description.Fault(description: "a schema is in both documents")
    }
    let all = described.merging(own) { $1 }
    schemas = Description(document: .object(["components": .object(["schemas": .object(all)])]))
  }

  // MARK: Messages

  var messages: [String: Tree] { document["components"]?["messages"]?.members ?? [:] }

  /// The commands by their `do`.
  var commands: [String: (command: String, answer: String)] {
    var commands: [String: (String, String)] = [:]
    for operation in (document["operations"]?.members ?? [:]).values where operation["action"] == .string("receive") {
      guard let command = Self.names(operation["messages"]).first,
        let answer = Self.names(operation["reply"]?["messages"]).first,
        case .string(let name)? = messages[command]?["name"]
      else { continue }
      commands[name] = (command, answer)
    }
    return commands
  }

  /// The messages that the server sends on its own. A command may have the `name` of a signal.
  private var events: [String] {
    (document["operations"]?.members ?? [:]).values.filter { $0["action"] == .string("send") }
      .flatMap { Self.names($0["messages"]) }
  }

  private static func names(_ references: Tree?) -> [String] {
    (references?.items ?? []).compactMap { reference in
      guard case .string(let path)? = reference["$ref"] else { return nil }
      return path.split(separator: "/").last.map(String.init)
    }
  }

  func check(_ frame: Tree, as message: String) throws {
    guard let payload = messages[message]?["payload"] else {
      throw Description.Fault(description: "no message \(message)")
    }
    try schemas.check(frame, payload, at: "")
  }

  // MARK: Frames of a connection

  /// Checks a frame of the server. `command` is the `do` of the answered command, if known.
  func check(_ text: String, answering command: String?) throws {
    let key = "\(command ?? "") \(text)"
    guard !Self.checked.withLock({ $0.contains(key) }) else { return }
    let frame = try Tree(parsing: Array(text.utf8))
    if frame["problem"] != nil {
      try check(frame, as: "Refused")
    } else if frame["re"] != nil {
      guard let command, let known = commands[command] else {
        throw Description.Fault(description: "answer to an undocumented command")
      }
      try check(frame, as: known.answer)
    } else if case .string(let event)? = frame["event"] {
      try check(frame, as: events.first { messages[$0]?["name"] == .string(event) } ?? "Event")
    } else {
      throw Description.Fault(description: "neither an answer nor an event")
    }
    Self.checked.withLock { checked in
      if checked.count < 10_000, text.utf8.count < 10_000 { checked.insert(key) }
    }
  }
}

/// The commands that a client has sent, to check them and their answers.
struct SentCommands {
  private var sent: [Tree: Tree] = [:]

  /// Malformed commands are not recorded: their answer is a problem.
  mutating func add(_ text: String) {
    guard let command = try? Tree(parsing: Array(text.utf8)), let id = command["id"] else { return }
    sent[id] = command
  }

  /// Checks a frame of the server, and the command that it answers.
  func check(_ line: String) throws {
    guard let description = FrameDescription.shipped else { return }
    guard line.hasPrefix(#"{"re":"#) else { return try description.check(line, answering: nil) }
    let answer = try Tree(parsing: Array(line.utf8))
    guard let command = answer["re"].flatMap({ sent[$0] }), case .string(let name)? = command["do"] else {
      return try description.check(line, answering: nil)
    }
    try description.check(line, answering: name)
    if answer["ok"] != nil, let known = description.commands[name] { try description.check(command, as: known.command) }
  }
}
