import Observation
import ParleyKit

/// Lists and the open conversation on the terminal, from the models of ParleyKit.
final class Chat {
  private let session: StoredSession
  private let parley: Parley
  private let forums: ForumListModel
  private let inbox: InboxModel
  private var forum: ReplicaForum?
  private var topics: TopicListModel?
  private var room: RoomModel?
  /// The tasks of the program and of the open conversation.
  private var tasks: [Task<Void, Never>] = []
  private var roomTasks: [Task<Void, Never>] = []

  init(_ session: StoredSession) {
    self.session = session
    parley = session.parley
    forums = ForumListModel(session.parley)
    inbox = InboxModel(session.parley)
  }

  func start() async {
    await parley.start()
    tasks = [
      Task { await forums.run() },
      Task {
        for await state in await parley.states() {
          if state == .signedOut { session.removeToken() }
          print(Self.text(of: state))
        }
      },
    ]
  }

  func stop() async {
    for task in tasks + roomTasks { task.cancel() }
    await parley.stop()
  }

  private static func text(of state: Parley.State) -> String {
    switch state {
    case .stopped: "* Connecting"
    case .live: "* Connected"
    case .retrying(let fault): "* \(fault.userMessage)"
    case .signedOut: "* Signed out. Start the program again to sign in."
    case .userChanged: "* Another user has signed in."
    case .cacheFailed(let fault): "* \(fault.userMessage)"
    }
  }

  // MARK: Commands

  func perform(_ line: String) async {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = words.count > 1 ? words[1] : ""
    switch words.first ?? "" {
    case "": return
    case "/help": print(help)
    case "/forums": await listForums()
    case "/open": await openForum(rest)
    case "/topics": await listTopics()
    case "/topic": await openTopic(rest)
    case "/inbox": await listNotifications()
    case let command: await performInRoom(command, rest, line)
    }
  }

  private func performInRoom(_ command: String, _ rest: String, _ line: String) async {
    guard let room else { return print("Open a forum first: /open FORUM") }
    switch command {
    case "/older": await room.showOlder()
    case "/check": await check(room)
    case "/like": if let message = message(rest, in: room) { await room.setAction(.like, on: message) }
    case "/delete": if let message = message(rest, in: room) { await room.delete(message) }
    case "/edit":
      let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2 else { return print("usage: /edit NUMBER TEXT") }
      if let message = message(words[0], in: room) { await room.edit(message, to: words[1]) }
    case _ where command.hasPrefix("/"): print("Unknown command. /help lists all.")
    default: await room.send(line)
    }
    report(room.failure)
  }

  private func message(_ number: String, in room: RoomModel) -> ShownMessage? {
    let found = room.messages.first { $0.message.map { String($0.seq) } == number }
    if found == nil { print("There is no message \(number) on the screen.") }
    return found
  }

  private func report(_ failure: (any Error)?) {
    if let failure { print("* \(explanation(of: failure))") }
  }

  private func check(_ room: RoomModel) async {
    do {
      switch try await parley.proof(of: room.conversation) {
      case .complete(let last): print("* Complete through message \(last?.seq ?? 0)")
      case .incomplete(let reason): print("* Incomplete: \(reason)")
      }
    } catch { report(error) }
  }

  // MARK: Lists

  /// The forums of the model. Right after the start it has none yet: then those of the cache, else of the server.
  private func knownForums() async -> [ReplicaForum] {
    guard !forums.isLoaded else { return forums.forums }
    do {
      for try await known in parley.forums() { return known.value }
    } catch { report(error) }
    return []
  }

  private func listForums() async {
    for known in await knownForums() { print("# \(Self.printable(known.forum.title))") }
  }

  private func openForum(_ title: String) async {
    guard let found = await knownForums().first(where: { $0.forum.title == title }) else {
      return print("There is no forum '\(title)'.")
    }
    forum = found
    topics = TopicListModel(of: found.forum.id, parley)
    open(found.forum.room, title)
  }

  private func listTopics() async {
    guard let topics else { return print("Open a forum first: /open FORUM") }
    await topics.refresh()
    report(topics.failure)
    for one in topics.topics { print("# \(Self.printable(one.topic.title)) (\(one.topic.lastSeq) messages)") }
    if topics.hasMore { print("…") }
  }

  private func openTopic(_ title: String) async {
    guard let topics else { return print("Open a forum first: /open FORUM") }
    if !topics.isLoaded { await topics.refresh() }
    guard let found = topics.topics.first(where: { $0.topic.title == title }) else {
      return print("There is no topic '\(title)'.")
    }
    open(found.topic.id, title)
  }

  private func listNotifications() async {
    await inbox.refresh()
    for one in inbox.notifications.reversed() {
      let text = Self.printable(one.message?.message.content?.text ?? "")
      print("\(one.entry.readAt == nil ? "●" : " ") \(one.entry.kind.rawValue): \(text)")
    }
    if inbox.failure == nil { await inbox.markAllRead() }
    report(inbox.failure)
  }

  // MARK: Conversation

  /// Shows a conversation in place of the open one.
  private func open(_ conversation: ID<Conversation>, _ title: String) {
    for task in roomTasks { task.cancel() }
    print("— \(title)")
    let room = RoomModel(conversation, parley, size: 20)
    self.room = room
    roomTasks = [
      Task { await room.run() },
      Task {
        var printed: [String: String] = [:]
        for await lines in Observations({ Self.lines(of: room) }) {
          if Task.isCancelled { return }
          for (id, line) in lines where printed[id] != line {
            print(line)
            printed[id] = line
          }
          await room.markRead()
        }
      },
    ]
  }

  /// A line for each message: number or state, author, text and likes.
  private static func lines(of room: RoomModel) -> [(id: String, text: String)] {
    room.messages.filter { $0.message?.kind != .system }.compactMap { one in
      // A line is printed once its author is known.
      guard let name = one.author.flatMap({ room.users[$0]?.summary.name }) else { return nil }
      let number = one.message.map { String($0.seq) } ?? (one.failure == nil ? "…" : "!")
      let text = one.isDeleted ? "(deleted)" : printable(one.text)
      let likes = one.mine.contains(.like) ? " ♥" : ""
      return (one.id, "\(number) \(name): \(text)\(likes)")
    }
  }

  /// Text of other users without control characters, which a terminal would obey.
  private static func printable(_ text: String) -> String {
    let scalars = text.unicodeScalars.filter { $0.properties.generalCategory != .control || $0 == "\n" }
    return String(String.UnicodeScalarView(scalars)).replacing("\n", with: "\n    ")
  }
}
