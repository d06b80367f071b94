// Forums and conversations of a source.

import Imports
import ParleyModel
import Storage

extension Importer {
  func writeForums() async throws(ImportFault) {
    let (origin, importer, bounds) = (origin, importer, community.bounds)
    for forum in overview.forums {
      let visibility = visibility(of: forum)
      let members = forum.members.compactMap { member in
        present(member.user).map { ($0, ForumRole(rawValue: member.role)) }
      }
      let (id, isNew) = try await write { tx throws(Refusal) -> (ID<Forum>, Bool) in
        if let earlier = try tx.imported(.forum, forum.key, from: origin) { return (ID(earlier), false) }
        let made = try tx.importForum(forum, visibility, by: importer, bounds)
        try tx.noteImported(.forum, forum.key, from: origin, as: made.number)
        return (made, true)
      }
      forums[forum.key] = id
      if isNew { report.made.forums += 1 }
      guard !members.isEmpty, try await isMissing(.forum, forum.key + Self.membersKey) else { continue }
      for some in members.pages(of: Self.rowsPerWrite) {
        try await write { tx throws(Refusal) in
          for (member, role) in some { _ = try tx.setMember(member, role ?? .member, of: id, by: importer) }
        }
      }
      try await note(.forum, forum.key + Self.membersKey, as: id.number)
    }
  }

  /// The key of a row that notes the end of a list of members: a later import adds no member again that staff have removed.
  static let membersKey = " members"

  /// Whether no earlier import has noted this row.
  func isMissing(_ kind: ImportedKind, _ key: String) async throws(ImportFault) -> Bool {
    let origin = origin
    return try await read { tx throws(Refusal) in try tx.imported(kind, key, from: origin) == nil }
  }

  func note(_ kind: ImportedKind, _ key: String, as number: Int) async throws(ImportFault) {
    let origin = origin
    try await write { tx throws(Refusal) in try tx.noteImported(kind, key, from: origin, as: number) }
  }

  func writeConversations() async throws(ImportFault) {
    let all = overview.conversations
    for some in all.pages(of: Self.rowsPerWrite) {
      let inputs = some.map { conversation in
        ConversationInput(
          conversation, forum: conversation.forum.flatMap { forums[$0] },
          owner: conversation.owner.flatMap { users[$0] },
          creator: conversation.creator.flatMap { users[$0] } ?? importer)
      }
      let (origin, bounds) = (origin, community.bounds)
      let written = try await write { tx throws(Refusal) in
        try inputs.map { input throws(Refusal) in try tx.importConversation(input, from: origin, bounds) }
      }
      for (conversation, result) in zip(some, written) {
        guard let result else {
          leaveOut("conversations of forums that were deleted here, and second feeds")
          continue
        }
        conversations[conversation.key] = result.target
        if result.isNew { conversation.kind == .topic ? (report.made.topics += 1) : noteMade(conversation.kind) }
      }
    }
  }

  private func noteMade(_ kind: SourceConversation.Kind) { if kind != .room { report.made.conversations += 1 } }

  /// Opens filled conversations, then adds their participants.
  func finish(_ keys: [String]) async throws(ImportFault) {
    let filled = keys.filter { conversations[$0]?.state == .filling }
    for some in filled.pages(of: Self.rowsPerWrite) { try await open(some) }
    let importer = importer
    for key in keys {
      guard let target = conversations[key], target.state == .filling || target.state == .appendable else { continue }
      var participants = (sourceConversations[key]?.participants ?? []).compactMap { member in
        present(member.user).map { ($0, ParticipantRole(rawValue: member.role) ?? .member) }
      }
      // The export of Discord has direct conversations of the user who made it.
      if target.kind == .group, source.kind == .discord { participants.append((importer, .admin)) }
      guard !participants.isEmpty, try await isMissing(.conversation, key + Self.membersKey) else { continue }
      for some in participants.pages(of: Self.rowsPerWrite) {
        try await write { tx throws(Refusal) in
          for (user, role) in some { try tx.importParticipant(user, role, in: target.id, by: importer) }
        }
      }
      try await note(.conversation, key + Self.membersKey, as: target.id.number)
    }
  }

  private func open(_ keys: [String]) async throws(ImportFault) {
    let targets = keys.compactMap { key in
      conversations[key].map { (target: $0, solution: sourceConversations[key]?.solvedBy) }
    }
    // Only a room has participants before: the members of its forum.
    for (target, _) in targets where target.kind == .room { try await advanceReaders(in: target.id, from: 1) }
    let (importer, origin) = (importer, origin)
    try await write { tx throws(Refusal) in
      for (target, solution) in targets {
        if let solution, let message = try tx.importedMessage(solution, from: origin, in: target.id) {
          try tx.importSolution(message, of: target.id)
        }
        try tx.openImported(target.id, by: importer)
      }
    }
  }
}

/// A conversation with the rows that it refers to.
struct ConversationInput: Sendable {
  let conversation: SourceConversation
  let forum: ID<Forum>?
  let owner: ID<User>?
  let creator: ID<User>

  init(_ conversation: SourceConversation, forum: ID<Forum>?, owner: ID<User>?, creator: ID<User>) {
    self.conversation = conversation
    self.forum = forum
    self.owner = owner
    self.creator = creator
  }
}

extension WriteTransaction {
  fileprivate func importForum(
    _ forum: SourceForum, _ visibility: Visibility, by importer: ID<User>, _ bounds: Bounds
  ) throws(Refusal) -> ID<Forum> {
    let title = Texts.importedLine(forum.title, scalars: bounds.titleScalars - 8) ?? "Forum"
    var draft = ForumDraft(title: title, visibility: visibility)
    draft.fields.set(\.about, to: Texts.importedBlock(forum.description, scalars: bounds.descriptionScalars))
    if let section = forum.section.flatMap({ Texts.importedLine($0, scalars: bounds.titleScalars) }) {
      draft.fields.set(\.section, to: section)
    }
    if forum.isArchived { draft.fields.set(\.isArchived, to: true) }
    for number in 1...1_000 {
      draft.fields.set(\.title, to: number == 1 ? title : "\(title) (\(number))")
      do throws(Refusal) {
        let made = try add(draft, by: importer)
        try startImport(ofRoom: made.room, createdAt: forum.createdAt ?? now)
        return made.id
      } catch {
        guard case .taken = error else { throw error }
      }
    }
    throw .taken("title")
  }

  /// Nil if there is one of this kind already.
  fileprivate func importConversation(
    _ input: ConversationInput, from source: String, _ bounds: Bounds
  ) throws(Refusal) -> (target: ImportTarget, isNew: Bool)? {
    let conversation = input.conversation
    if let earlier = try imported(.conversation, conversation.key, from: source) {
      let id = ID<Conversation>(earlier)
      return (ImportTarget(id: id, state: try importState(of: id) ?? .gone, kind: conversation.kind), false)
    }
    let id: ID<Conversation>
    if conversation.kind == .room {
      guard let forum = try input.forum.flatMap({ id throws(Refusal) in try self.forum(id) }) else { return nil }
      id = forum.room
    } else {
      var new = ImportedConversation(
        Conversation.Kind(rawValue: conversation.kind.rawValue) ?? .group,
        title: conversation.title.flatMap { Texts.importedLine($0, scalars: bounds.titleScalars) }
          ?? (conversation.kind == .topic ? "Topic" : nil),
        by: input.creator, createdAt: min(conversation.createdAt ?? now, now))
      new.forum = conversation.kind == .topic ? input.forum : nil
      new.owner = input.owner
      new.isPinned = conversation.isPinned
      new.isLocked = conversation.isLocked
      if conversation.kind == .topic {
        guard let forum = input.forum, try self.forum(forum) != nil else { return nil }
      }
      if conversation.kind == .feed, new.owner == nil { return nil }
      do throws(Refusal) { id = try startImport(of: new) } catch {
        guard case .conflict = error else { throw error }
        return nil
      }
    }
    try noteImported(.conversation, conversation.key, from: source, as: id.number)
    return (ImportTarget(id: id, state: try importState(of: id) ?? .gone, kind: conversation.kind), true)
  }
}
