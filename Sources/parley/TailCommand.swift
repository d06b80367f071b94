// `parley tail`: what happens, line by line: from the daemon that has the data folder, as the place's owner sees it, or where
// no data folder is named or lies here, from the server where somebody is signed in. The first reads server-sent events, the
// second is an app's live connection.

import Glibc
import ParleyJSON
import ParleyKit
import ParleyModel
import ParleyNetworking
import ParleyWire
import Storage
import Synchronization

enum TailCommand {
  private static let after = Setting(
    name: "after", value: "CURSOR", meaning: "begins with what has happened since then", isFlagOnly: true)

  static func run(_ arguments: [String]) async -> Int32 {
    do {
      let settings = try Settings(
        arguments: arguments, environment: Terminal.environment, of: "tail", [.data, .json, after, Desk.profile],
        operands: ["list of TOPICS"])
      return try await run(settings).tell()
    } catch let mistake as Settings.Mistake {
      return Outcome(.impossible, mistake.sentence).tell()
    } catch let refused as Refused {
      return Outcome(.wrong, refused.sentence).tell()
    } catch let fault as ClientFault {
      return TalkCommand.outcome(of: fault).tell()
    } catch {
      return Outcome(.impossible, "\(error)").tell()
    }
  }

  private static func run(_ settings: Settings) async throws -> Outcome {
    let topics = try topics(settings.operands[0])
    let cursor = settings.text(after)
    guard cursor?.allSatisfy({ $0.isASCII && ($0 == "." || $0.isHexDigit) }) ?? true else {
      throw Settings.Mistake(sentence: "\"\(cursor ?? "")\" is no cursor.")
    }
    let data = settings.text(.data)
    if data == nil, !Folder.exists("./data"), try Desk.isSignedIn(settings) {
      return try await follow(try Desk(settings).client, topics, cursor, settings.isOn(.json))
    }
    return try await follow(data ?? "./data", topics, cursor, settings.isOn(.json))
  }

  /// As somebody who is signed in.
  private static func follow(
    _ client: Client, _ topics: [String], _ cursor: String?, _ isJSON: Bool
  ) async throws -> Outcome {
    let live = LiveConnection(client, topics: topics, after: cursor)
    // Said once, however often it is tried again.
    var told: ClientFault?
    for await news in live {
      switch news {
      case .event(let frame), .signal(let frame):
        guard TailFeed.show(frame.representation.bytes, isJSON) else { return Outcome(.well, "") }
      case .live:
        if told != nil { Terminal.complain("The server is back.") }
        told = nil
      case .reset(_, let cursor):
        Terminal.complain("What has happened since then can't be told. This is what happens from now on.")
        live.goOn(from: cursor)
      case .away(let fault, _):
        if told?.sentence != fault.sentence { Terminal.complain("\(fault.sentence) It is tried again.") }
        told = fault
      case .ended(let fault): throw fault
      }
    }
    return Outcome(.well, "")
  }

  /// From the daemon that has the data folder.
  private static func follow(
    _ data: String, _ topics: [String], _ cursor: String?, _ isJSON: Bool
  ) async throws -> Outcome {
    try requireServer(data)
    let query = "topics=" + topics.joined(separator: ",") + (cursor.map { "&after=" + $0 } ?? "")
    let socket = try ControlSocket(in: data)
    var call = Call(address: socket.address, host: "localhost", name: "the daemon", path: "/events?" + query)
    call.patience = 60
    call.isLong = true
    let feed = TailFeed(isJSON: isJSON)
    defer { withExtendedLifetime(socket) {} }
    let status = try await call.stream { status, piece in feed.take(status, piece) }
    if status == .notFound { return Outcome(.wrong, "There is nothing of that name that the owner may follow.") }
    guard status == .ok else { throw Refused(status, feed.refusal) }
    return Outcome(.well, "The server has stopped.")
  }

  /// As they stand in an address: none of them has a character that would mean something there.
  private static func topics(_ text: String) throws(Settings.Mistake) -> [String] {
    var topics: [String] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let topic = LiveTopic(String(part)) else {
        throw Settings.Mistake(
          sentence: "\"\(part)\" is none of the topics me, conversation:ID, forum:ID, app:NAME and presence.")
      }
      topics.append(topic.description)
    }
    return topics
  }

  /// Nothing happens where no daemon runs.
  private static func requireServer(_ data: String) throws(Settings.Mistake) {
    guard Folder.exists(data) else { throw Settings.Mistake(sentence: "There is no folder \(data). --data names it.") }
    do throws(DataFolder.Fault) {
      _ = try DataFolder(data)
    } catch {
      guard case .inUse = error else { throw Settings.Mistake(sentence: error.description) }
      return
    }
    throw Settings.Mistake(sentence: "No server runs on \(data), so nothing happens there. parley serve starts one.")
  }
}

/// Server-sent events as they come, and what is shown of them.
private final class TailFeed: Sendable {
  private let isJSON: Bool
  private let rest = Mutex<[UInt8]>([])
  /// One event is shorter.
  private static let longest = 1 << 20

  init(isJSON: Bool) { self.isJSON = isJSON }

  /// What was said instead of events.
  var refusal: [UInt8] { rest.withLock { $0 } }

  func take(_ status: Status, _ piece: [UInt8]) {
    let lines = rest.withLock { rest in
      rest += piece
      guard status == .ok else { return [[UInt8]]() }
      var lines: [[UInt8]] = []
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        lines.append(Array(rest[..<end]))
        rest.removeFirst(end + 1)
      }
      if rest.count > Self.longest { rest = [] }
      return lines
    }
    for line in lines where line.starts(with: Self.mark) {
      // Whoever wanted to see it is gone.
      guard Self.show(Array(line.dropFirst(Self.mark.count)), isJSON) else { exit(Outcome.Status.well.rawValue) }
    }
  }

  private static let mark = Array("data: ".utf8)

  /// - Returns: whether somebody still takes it.
  static func show(_ json: [UInt8], _ isJSON: Bool) -> Bool {
    if isJSON { return Terminal.print(String(decoding: json, as: UTF8.self) + "\n") }
    do {
      return Terminal.print(try TailLine(json).text + "\n")
    } catch {
      Terminal.complain("An event that can't be read: \(error)")
      return true
    }
  }
}

/// An event for a person at a terminal.
struct TailLine {
  let text: String

  init(_ json: [UInt8]) throws(JSONError) {
    var event = try JSONValue(parsing: json).object()
    let name = try event.string("event")
    let at: String? = try event.optional("at")
    let stream: String? = try event.optional("stream")
    let actor: String? = try event.optional("actor_id")
    var said: String?
    if let data: JSONValue = try event.optional("data", { $0 }), data.kind == .object {
      var members = try data.object()
      if let value: JSONValue = try members.optional("text", { $0 }), value.kind == .string {
        said = try value.string()
      }
    }
    let parts = [at, stream, name, actor.map { "by \($0)" }, said.map { "\u{201c}\(Terminal.plain($0))\u{201d}" }]
    text = parts.compactMap { $0 }.joined(separator: " ")
  }
}
