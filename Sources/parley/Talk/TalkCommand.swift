import Glibc
import JSON
import Model
import ParleyKit

/// One command of somebody at a place.
struct TalkCommand: Sendable {
  let name: String
  /// What stands in the help.
  let usage: String
  let meaning: String
  var operands: [String] = []
  var settings: [Setting] = []
  let run: @Sendable (Settings) async throws -> Outcome

  func run(_ arguments: [String]) async -> Int32 {
    if arguments.contains("--help") || arguments.contains("-h") {
      Terminal.print(help)
      return Outcome.Status.well.rawValue
    }
    do {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: name, self.settings + [Desk.profile],
        operands: operands)
      return try await run(settings).tell()
    } catch let mistake as Settings.Mistake {
      return Outcome(.impossible, mistake.sentence).tell()
    } catch let fault as ClientFault {
      if case .refused = fault { return Outcome(.wrong, fault.sentence).tell() }
      return Outcome(.impossible, fault.sentence).tell()
    } catch {
      return Outcome(.impossible, "\(error)").tell()
    }
  }

  private var help: String {
    "parley \(name) \(usage)\n\n\(meaning)\n\nSettings\n\n" + Help.table(settings + [Desk.profile])
  }

  static let all: [TalkCommand] = [
    login, logout, whoami, forums, read, post, search, sendFile, completions,
  ]

  private static let fingerprint = Setting(
    name: "fingerprint", value: "SHA256", meaning: "the server's own certificate, where nobody has signed it",
    isFlagOnly: true)
  private static let limit = Setting(
    name: "limit", value: "N", meaning: "how many, at most 200", fallback: "20", isFlagOnly: true)

  private static func number(_ settings: Settings) throws(Settings.Mistake) -> Int {
    try settings.number(limit, in: 1...200) ?? 20
  }

  // MARK: Coming and going

  private static let login = TalkCommand(
    name: "login", usage: "SERVER NAME [--fingerprint SHA256]",
    meaning: "Signs in with a password, which is the first line of standard input, and keeps the session.",
    operands: ["SERVER", "NAME"], settings: [fingerprint]
  ) { settings in
    let (server, name) = (settings.operands[0], settings.operands[1])
    let client = try Desk.client(server, token: nil, fingerprint: settings.text(fingerprint))
    guard let password = Terminal.secret("Password: "), !password.isEmpty else {
      throw Settings.Mistake(sentence: "There is no password on standard input.")
    }
    let path = try Desk.path(settings)
    let answer = try await client.send(
      Request<Fact>.signIn { json in
        json.field("username", name)
        json.field("password", password)
        json.field("device", "parley")
      }.unsigned())
    guard let token = answer["token"] else { throw ClientFault.notUnderstood("a session without a token") }
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try Folder.make(String(path[..<slash])) }
    let profile = Desk.Profile(
      server: client.server.origin, token: token, fingerprint: settings.text(fingerprint))
    try Folder.write(profile.bytes, to: path)
    return Outcome(.well, "Signed in at \(client.server) as \(name).")
  }

  private static let logout = TalkCommand(
    name: "logout", usage: "", meaning: "Ends the session at the server, and forgets it here."
  ) { settings in
    let desk = try Desk(settings)
    try Folder.remove(try Desk.path(settings))
    do throws(ClientFault) {
      try await desk.client.send(.endSession("current"))
    } catch {
      guard error.isSignedOut else {
        return Outcome(.wrong, "It is forgotten here, but the server did not hear of it: \(error.sentence)")
      }
    }
    return Outcome(.well, "Signed out.")
  }

  private static let whoami = TalkCommand(
    name: "whoami", usage: "[--json]", meaning: "Says who is signed in, and where.", settings: [.json]
  ) { settings in
    let desk = try Desk(settings)
    let person = try await desk.client.send(.person(.me))
    if settings.isOn(.json) { return lines([person.representation]) }
    return Outcome(
      .well, "\(person.account.name ?? "nobody") at \(desk.client.server) (\(person.account.role.rawValue))")
  }

  // MARK: Looking

  private static let forums = TalkCommand(
    name: "forums", usage: "[--limit N] [--json]", meaning: "Lists the forums, the liveliest first.",
    settings: [limit, .json]
  ) { settings in
    let page = try await Desk(settings).client.send(.forums(limit: min(100, try number(settings))))
    if settings.isOn(.json) { return lines(page.elements.map(\.representation)) }
    return Outcome(
      .well, page.elements.map { "\($0.forum.room)  \(Terminal.plain($0.forum.title))" }.joined(separator: "\n"))
  }

  private static let read = TalkCommand(
    name: "read", usage: "PLACE [--limit N] [--json]",
    meaning: "Shows the newest messages of a conversation, by its number, or of a forum's room, by its title.",
    operands: ["PLACE"], settings: [limit, .json]
  ) { settings in
    let desk = try Desk(settings)
    let place = try await desk.conversation(settings.operands[0])
    let page = try await desk.client.send(.messages(in: place, limit: try number(settings)))
    let messages = Array(page.elements.reversed())
    if settings.isOn(.json) { return lines(messages.map(\.representation)) }
    return try await shown(messages, at: desk)
  }

  private static let search = TalkCommand(
    name: "search", usage: "WORDS [--limit N] [--json]",
    meaning: "Looks for messages: words, \"phrases\", -not, begin*.", operands: ["WORDS"], settings: [limit, .json]
  ) { settings in
    let desk = try Desk(settings)
    let page = try await desk.client.send(.search(q: settings.operands[0], limit: try number(settings)))
    if settings.isOn(.json) { return lines(page.elements.map(\.representation)) }
    let found = page.elements.compactMap { hit in
      hit.member("message", as: Resource<SeenMessage>.self) ?? hit.read(as: Resource<SeenMessage>.self)
    }
    return found.isEmpty ? Outcome(.wrong, "Nothing was found.") : try await shown(found, at: desk)
  }

  // MARK: Saying

  private static let post = TalkCommand(
    name: "post", usage: "PLACE TEXT [--json]", meaning: "Says something; TEXT - is all of standard input.",
    operands: ["PLACE", "TEXT"], settings: [.json]
  ) { settings in
    let desk = try Desk(settings)
    let place = try await desk.conversation(settings.operands[0])
    let text = settings.operands[1] == "-" ? Terminal.input() : settings.operands[1]
    let message = try await desk.client.send(.post(in: place, clientID: clientID()) { $0.field("text", text) })
    return settings.isOn(.json) ? lines([message.representation]) : Outcome(.well, message.message.id.description)
  }

  private static let sendFile = TalkCommand(
    name: "send-file", usage: "PLACE FILE [--json]", meaning: "Sends a file as a message.",
    operands: ["PLACE", "FILE"], settings: [.json]
  ) { settings in
    let desk = try Desk(settings)
    let place = try await desk.conversation(settings.operands[0])
    let source = try Folder.source(settings.operands[1])
    let bar = ProgressBar.onTerminal
    let file = try await desk.client.upload(source, clientID: clientID()) { sent, size in
      bar?.show(Progress(source.name, done: sent, of: size))
    }
    bar?.clear()
    guard let id = file["id"] else { throw ClientFault.notUnderstood("a file without an id") }
    let message = try await desk.client.send(
      .post(in: place, clientID: clientID()) { json in
        json.field("text", "")
        json.field("attachments", [id])
      })
    return settings.isOn(.json) ? lines([message.representation]) : Outcome(.well, message.message.id.description)
  }

  private static let completions = TalkCommand(
    name: "completions", usage: "SHELL", meaning: "Prints what bash, zsh or fish needs to complete commands.",
    operands: ["SHELL"]
  ) { settings in
    guard let script = Completions.script(for: settings.operands[0]) else {
      throw Settings.Mistake(sentence: "Completions are there for bash, zsh and fish.")
    }
    return Outcome(.well, script)
  }

  // MARK: Showing

  /// One name for one attempt, so that sending again by ourselves makes no second one.
  private static func clientID() -> String {
    (0..<16).map { _ in
      let byte = UInt8.random(in: .min ... .max)
      return String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }

  private static func lines(_ values: [JSONRaw]) -> Outcome {
    Outcome(.well, values.map { String(decoding: $0.compact.bytes, as: UTF8.self) }.joined(separator: "\n"))
  }

  /// Each on a line. An outcome would take what sets names off for something that others wrote.
  private static func shown(_ messages: [Resource<SeenMessage>], at desk: Desk) async throws -> Outcome {
    let names = try await desk.names(of: Set(messages.map(\.message.author)))
    for one in messages {
      let message = one.message
      let name = Terminal.bold(Terminal.plain(names[message.author] ?? "-"))
      let text = message.content.map { Terminal.plain($0.text) } ?? "(deleted)"
      Terminal.print("\(Timestamp.format(Int(message.createdAt)))  \(name)  \(text)\n")
    }
    return Outcome(.well, "")
  }
}

extension TalkCommand {
  /// What the overview says of them.
  static var overview: String {
    let width = all.map { $0.name.count + $0.operandText.count }.max() ?? 0
    return all.map { command in
      let left = command.name + command.operandText
      let sentence = command.meaning.prefix { $0 != "," && $0 != ";" && $0 != ":" && $0 != "." }
      return "  parley \(left)\(String(repeating: " ", count: width - left.count))  \(sentence.lowercased())\n"
    }.joined()
  }

  private var operandText: String { operands.map { " " + $0 }.joined() }
}
