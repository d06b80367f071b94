// Messages of a source, in chunks of one transaction.

import Imports
import ParleyJSON
import ParleyModel
import Storage

/// Messages that one transaction writes.
struct ImportChunk: Sendable {
  var messages: [PreparedMessage] = []
  /// Rows that they take, approximately: a transaction has a limit.
  var weight = 0

  static let maxWeight = 2_000
  static let maxMessages = 200
  static let maxBytes = 4 << 20
  var bytes = 0
}

/// A message whose names are resolved and whose files are stored.
struct PreparedMessage: Sendable {
  let key: String
  let target: ID<Conversation>
  let author: ID<User>
  let time: Int64
  /// A text above the limit goes on in further messages.
  let texts: [ParsedText]
  let replyTo: String?
  let editedAt: Int64?
  let revisions: [SourceRevision]
  let files: [NewFile]
  let descriptions: [String]
  let reactions: [(action: ActionType, users: [ID<User>])]
  let isNotice: Bool
  let poll: Poll?
  let votes: [(user: ID<User>, options: [Int])]
  let annotations: MessageAnnotations?
  let repostOf: String?

  /// Rows of the message without its reactions and votes.
  private var ownWeight: Int { 14 * texts.count + 3 * files.count }
  private var answerWeight: Int { 3 * reactions.reduce(0) { $0 + $1.users.count } + 8 * votes.count }
  /// Whether reactions and votes take transactions of their own.
  var hasManyAnswers: Bool { answerWeight > ImportChunk.maxWeight / 2 }
  var weight: Int { ownWeight + (hasManyAnswers ? 0 : answerWeight) }
}

/// The result of writing a message.
enum ImportOutcome: Sendable {
  case made, known
  /// A user of the site has written in the conversation.
  case written
  /// The message reposts one that was not imported.
  case withoutOriginal
}

/// The result of storing a file.
enum ImportedContent {
  case stored(NewFile)
  case missing
  /// Above the limit of a file.
  case tooLarge
  /// No picture that can be shown.
  case damaged
}

extension Importer {
  func writeMessages(_ progress: (String, Int, Int) throws(ImportFault) -> Void) async throws(ImportFault) {
    sourceConversations = Dictionary(overview.conversations.map { ($0.key, $0) }) { one, _ in one }
    var done = 0
    var waiting: [SourceMessage] = []
    try progress("importing messages", 0, overview.messageCount)
    try await source.messages { item throws(ImportFault) in
      switch item {
      case .message(let message):
        waiting.append(message)
        done += 1
        if waiting.count >= ImportChunk.maxMessages {
          try await self.add(waiting)
          waiting = []
          try progress("importing messages", done, overview.messageCount)
        }
      case .finished(let keys):
        try await self.add(waiting)
        waiting = []
        try await self.flush()
        try await self.finish(keys)
        try progress("importing messages", done, overview.messageCount)
      }
    }
    try await add(waiting)
    try await flush()
  }

  /// Adds messages that are not on the site to the chunk.
  private func add(_ messages: [SourceMessage]) async throws(ImportFault) {
    guard !messages.isEmpty else { return }
    let (origin, keys) = (origin, messages.map(\.key))
    let known = try await read { tx throws(Refusal) in
      try keys.map { key throws(Refusal) in try tx.imported(.message, key, from: origin) != nil }
    }
    for (message, isKnown) in zip(messages, known) where !isKnown {
      guard let target = conversations[message.conversation], let author = users[message.author] else {
        leaveOut("messages whose conversation or author was not imported")
        continue
      }
      guard !departed.contains(author) else {
        leaveOut("messages of users who have left this site")
        continue
      }
      switch target.state {
      case .filling, .appendable: break
      case .written:
        leaveOut("later messages of conversations in which users of this site have written")
        continue
      case .gone:
        leaveOut("messages of conversations that were deleted here")
        continue
      }
      let prepared = try await prepare(message, in: target.id, by: author)
      guard let prepared else {
        leaveOut("messages without content")
        continue
      }
      chunk.messages.append(prepared)
      chunk.weight += prepared.weight
      chunk.bytes += prepared.texts.reduce(0) { $0 + $1.markdown.utf8.count }
      if chunk.weight >= ImportChunk.maxWeight || chunk.messages.count >= ImportChunk.maxMessages
        || chunk.bytes >= ImportChunk.maxBytes
      {
        try await flush()
      }
    }
  }

  private func flush() async throws(ImportFault) {
    let (some, origin, bounds) = (chunk.messages, origin, community.bounds)
    chunk = ImportChunk()
    guard !some.isEmpty else { return }
    // Messages that follow others on the site stay read for those that have read these.
    let appendable = Set(conversations.values.lazy.filter { $0.state == .appendable }.map(\.id))
    let targets = Set(some.lazy.map(\.target).filter(appendable.contains)).sorted { $0.number < $1.number }
    let before = try await read { tx throws(Refusal) in
      try targets.map { id throws(Refusal) in try tx.lastImportedSeq(in: id) }
    }
    let made = try await write { tx throws(Refusal) in
      try some.map { message throws(Refusal) in try tx.importMessage(message, from: origin, bounds) }
    }
    for (message, outcome) in zip(some, made) {
      switch outcome {
      case .made:
        report.made.messages += 1
        report.made.files += message.files.count
      case .known: break
      case .written: leaveOut("later messages of conversations in which users of this site have written")
      case .withoutOriginal: leaveOut("reposts of messages that are not in the export")
      }
    }
    for (id, last) in zip(targets, before) { try await advanceReaders(in: id, from: last + 1) }
    for message in some where message.hasManyAnswers { try await addAnswers(to: message) }
  }

  func advanceReaders(in id: ID<Conversation>, from first: Int) async throws(ImportFault) {
    while try await write({ tx throws(Refusal) in
      try tx.advanceReaders(in: id, from: first, limit: Self.readersPerWrite)
    }) {}
  }

  /// Long lists of reactions and votes, in pages.
  private func addAnswers(to message: PreparedMessage) async throws(ImportFault) {
    let origin = origin
    for some in message.votes.pages(of: 500) {
      try await write { tx throws(Refusal) in
        guard let id = try tx.importedMessage(message.key, from: origin, in: message.target) else { return }
        for (user, options) in some { try tx.setVote(options, in: id, of: message.target, by: user) }
      }
    }
    for (action, users) in message.reactions {
      for some in users.pages(of: 500) {
        try await write { tx throws(Refusal) in
          guard let id = try tx.importedMessage(message.key, from: origin, in: message.target) else { return }
          for user in some { _ = try tx.add(action, to: id, in: message.target, by: user, at: message.time) }
        }
      }
    }
  }

  // MARK: Preparing

  /// Nil without content.
  private func prepare(
    _ message: SourceMessage, in target: ID<Conversation>, by author: ID<User>
  ) async throws(ImportFault) -> PreparedMessage? {
    let bounds = community.bounds
    var text = markdown(message.text)
    var files: [NewFile] = []
    var descriptions: [String] = []
    for attachment in message.files {
      let name = Texts.importedLine(attachment.name, scalars: bounds.fileNameScalars) ?? "file"
      guard files.count < bounds.attachments else {
        leaveOut("files beyond \(bounds.attachments) of a message")
        continue
      }
      switch try await store(attachment.content, name: name, of: author, limit: bounds.fileBytes) {
      case .stored(let file):
        files.append(file)
        descriptions.append(Texts.importedBlock(attachment.description, scalars: bounds.pictureDescriptionScalars))
      case .missing:
        let address: String? = if case .missing(let address) = attachment.content { address } else { nil }
        text += (text.isEmpty ? "" : "\n\n") + "📎 " + Self.link(name, address)
      case .tooLarge: leaveOut("files above the size limit of the site")
      case .damaged: leaveOut("pictures that can't be shown")
      }
    }
    let repostOf = message.repostOf
    guard text.isVisible || !files.isEmpty || repostOf != nil || message.poll != nil else { return nil }
    let read = try? message.annotations.map { try Annotations(stored: $0) }
    let annotations = read.map { read in
      MessageAnnotations(
        json: String(decoding: read.json.bytes, as: UTF8.self), types: read.types, location: read.location)
    }
    let texts = Self.parts(Texts.importedBlock(text, scalars: .max), limit: bounds.messageScalars)
      .map { ParsedText.imported($0, bounds) }
    return PreparedMessage(
      key: message.key, target: target, author: author, time: message.time, texts: texts, replyTo: message.replyTo,
      editedAt: message.editedAt, revisions: message.revisions, files: files, descriptions: descriptions,
      reactions: reactions(of: message, bounds), isNotice: message.isNotice, poll: message.poll.map(Self.poll),
      votes: votes(of: message), annotations: annotations, repostOf: repostOf)
  }

  private func markdown(_ text: SourceText) -> String {
    text.parts.map { part in
      switch part {
      case .markdown(let markdown): markdown
      case .mention(let user, let name): "@\(names[user].flatMap { $0.isEmpty ? nil : $0 } ?? name)"
      }
    }.joined()
  }

  private static func link(_ name: String, _ address: String?) -> String {
    let label = name.replacing("[", with: "\\[").replacing("]", with: "\\]")
    guard let address, address.hasPrefix("https://") || address.hasPrefix("http://"),
      !address.contains(where: { $0.isWhitespace || $0 == "(" || $0 == ")" || $0 == "<" || $0 == ">" })
    else { return label }
    return "[\(label)](\(address))"
  }

  /// A long text in parts, cut between lines where possible.
  static func parts(_ text: String, limit: Int) -> [String] {
    guard text.unicodeScalars.count > limit else { return [text] }
    var parts: [String] = []
    var rest = text[...]
    while !rest.isEmpty {
      let end = rest.unicodeScalars.index(rest.startIndex, offsetBy: limit, limitedBy: rest.endIndex) ?? rest.endIndex
      guard end < rest.endIndex else {
        parts.append(String(rest))
        break
      }
      let cut = rest[..<end].lastIndex(where: \.isNewline).map { rest.index(after: $0) } ?? end
      parts.append(String(rest[..<(cut > rest.startIndex ? cut : end)]))
      rest = rest[(cut > rest.startIndex ? cut : end)...]
    }
    return parts.filter { $0.isVisible }
  }

  private func reactions(of message: SourceMessage, _ bounds: Bounds) -> [(action: ActionType, users: [ID<User>])] {
    var found: [(action: ActionType, users: [ID<User>])] = []
    for reaction in message.reactions.prefix(bounds.actionTypes) {
      guard let action = ActionType(reaction.action) else {
        leaveOut("reactions that are no emoji")
        continue
      }
      found.append((action, reaction.users.compactMap(present)))
    }
    if message.isPinned, let pin = ActionType("pin") { found.append((pin, [importer])) }
    return found
  }

  private static func poll(_ poll: SourcePoll) -> Poll {
    Poll(
      poll.options.map { Poll.Option($0) }, choices: poll.choices, isAnonymous: poll.isAnonymous,
      closesAt: poll.closesAt)
  }

  private func votes(of message: SourceMessage) -> [(user: ID<User>, options: [Int])] {
    var votes: [ID<User>: [Int]] = [:]
    for (option, user) in message.poll?.votes ?? [] {
      if let id = present(user) { votes[id, default: []].append(option) }
    }
    return votes.sorted { $0.key.number < $1.key.number }.map { ($0.key, $0.value.sorted()) }
  }

  /// Stores the content of a file like an upload: its type is detected, private metadata of pictures is removed.
  func store(
    _ content: SourceContent, name: String, of owner: ID<User>, limit: Int
  ) async throws(ImportFault) -> ImportedContent {
    guard let bytes = try source.content(content) else { return .missing }
    let bounds = community.bounds
    let (cutsMetadata, used) = try await read { tx throws(Refusal) in
      (try tx.settings().cutsMetadata, try tx.fileUse(of: nil))
    }
    let reservation = community.uploadQuota.reserve(for: owner, (user: .max, site: bounds.siteFileBytes - used))
    let intake = FileIntake(
      community.store.blobs.writer(), reservation, limit: limit, cutsMetadata: cutsMetadata,
      maxPixels: bounds.imagePixels)
    do {
      while let piece = try bytes.read() { try await intake.receive(piece) }
      let received = try await intake.finish()
      return .stored(
        NewFile(
          owner: owner, FileDraft(name: name), received.content, kind: received.format.kind.rawValue,
          mimeType: received.format.mimeType, width: received.size?.width, height: received.size?.height))
    } catch let fault as ImportFault {
      await intake.discard()
      throw fault
    } catch let refusal as Refusal {
      await intake.discard()
      if case .tooLarge = refusal { return .tooLarge }
      if case .invalid = refusal { return .damaged }
      throw ImportFault(refusal)
    } catch {
      await intake.discard()
      throw ImportFault("The file \(name) can't be stored: \(error).")
    }
  }
}

extension ParsedText {
  /// A text of another program. Beyond a limit of entities it has none.
  fileprivate static func imported(_ text: String, _ bounds: Bounds) -> ParsedText {
    do throws(Refusal) { return try again(text, bounds) } catch { return plain(text) }
  }
}

extension WriteTransaction {
  fileprivate func importMessage(
    _ message: PreparedMessage, from source: String, _ bounds: Bounds
  ) throws(Refusal) -> ImportOutcome {
    guard try imported(.message, message.key, from: source) == nil else { return .known }
    guard let last = try lastImportTime(in: message.target) else { return .written }
    let original = try message.repostOf.flatMap { key throws(Refusal) in
      try imported(.message, key, from: source).map { ID<Message>($0) }
    }
    guard message.repostOf == nil || original != nil else { return .withoutOriginal }
    let time = max(last, message.time)
    let quota = FileQuota(user: .max, site: bounds.siteFileBytes)
    var first: ID<Message>?
    for (index, text) in message.texts.enumerated() {
      let suffix = index == 0 ? "" : "/\(index + 1)"
      var new = NewMessage(
        conversation: message.target, author: message.author, clientID: "\(source):\(message.key)\(suffix)",
        text: try resolved(text, in: message.target))
      if index == 0 {
        new.kind = message.isNotice ? .system : .message
        new.replyTo = try message.replyTo.flatMap { key throws(Refusal) in
          try importedMessage(key, from: source, in: message.target)
        }
        new.attachments = try message.files.map { file throws(Refusal) in try add(file, in: quota).id }
        new.descriptions = message.descriptions
        new.poll = message.poll
        new.annotations = message.annotations
        new.repostOf = original
      }
      let stored: StoredMessage
      do throws(Refusal) { stored = try importMessage(new, createdAt: time) } catch {
        // A user of the site has taken the id for another message.
        guard case .clientIDReused = error else { throw error }
        new.clientID = nil
        stored = try importMessage(new, createdAt: time)
      }
      if index == 0 { first = stored.id }
    }
    guard let first else { return .known }
    try noteImported(.message, message.key, from: source, as: first.number)
    if message.editedAt != nil || !message.revisions.isEmpty {
      try importEdits(
        of: first, in: message.target, by: message.author, earlier: message.revisions.map { ($0.text, $0.time) },
        editedAt: message.editedAt ?? time)
    }
    guard !message.hasManyAnswers else { return .made }
    for (action, users) in message.reactions {
      for user in users { _ = try add(action, to: first, in: message.target, by: user, at: time) }
    }
    for (user, options) in message.votes { try setVote(options, in: first, of: message.target, by: user) }
    return .made
  }
}
