// Writes the content of a source: users, groups, emoji, forums, conversations, and then messages in chunks of one transaction.
// Each row is remembered by its id in the source, in the transaction that makes it, so an import continues where a crash has ended it.

import Imports
import ParleyModel
import Storage

/// One import. Confined to one task.
final class Importer {
  let community: Community
  let source: any ImportSource
  let overview: SourceOverview
  let options: ImportOptions
  var report = ImportReport()
  /// The user who owns what has no other owner.
  var importer = ID<User>(0)
  var users: [String: ID<User>] = [:]
  /// Users of earlier imports who have left the site, or were erased.
  var departed: Set<ID<User>> = []
  /// Names on the site by the key of a user.
  var names: [String: String] = [:]
  var forums: [String: ID<Forum>] = [:]
  var conversations: [String: ImportTarget] = [:]
  var chunk = ImportChunk()
  /// Conversations of the source by key.
  var sourceConversations: [String: SourceConversation] = [:]

  var origin: String { source.kind.rawValue }

  /// Rows of a user, a group or a forum that one transaction writes.
  static let rowsPerWrite = 100
  /// Participants whose position one transaction moves.
  static let readersPerWrite = 2_000

  init(_ community: Community, _ source: any ImportSource, _ overview: SourceOverview, _ options: ImportOptions) {
    self.community = community
    self.source = source
    self.overview = overview
    self.options = options
  }

  func run(
    _ progress: (String, Int, Int) throws(ImportFault) -> Void
  ) async throws(ImportFault) -> ImportReport {
    report.read = counts()
    report.leftOut = overview.leftOut
    let known = try await knownUsers()
    try await checkSite()
    guard !options.isDryRun else {
      report.forums = forumTable()
      return report
    }
    try progress("importing users", 0, 0)
    try await writeUsers(known)
    try await writeGroups()
    try await writeEmoji()
    try progress("importing forums", 0, 0)
    try await writeForums()
    try await writeConversations()
    try await writeMessages(progress)
    try await openForums()
    try await noteAddresses()
    try await recordImport()
    report.forums = forumTable()
    return report
  }

  /// Adds an import that has made anything to the audit log.
  private func recordImport() async throws(ImportFault) {
    guard report.made != ImportReport.Counts() else { return }
    let (importer, reason) = (importer, "\(origin): \(report.made.users) users, \(report.made.messages) messages")
    try await write { tx throws(Refusal) in try tx.audit(.siteImported, by: importer, subject: 0, reason: reason) }
  }

  private func counts() -> ImportReport.Counts {
    var counts = ImportReport.Counts()
    counts.users = overview.users.count
    counts.groups = overview.groups.count
    counts.emoji = overview.emoji.count
    counts.forums = overview.forums.count
    counts.topics = overview.conversations.count { $0.kind == .topic }
    counts.conversations = overview.conversations.count { $0.kind != .topic && $0.kind != .room }
    counts.messages = overview.messageCount
    counts.files = overview.fileCount
    return counts
  }

  func leaveOut(_ reason: String, _ count: Int = 1) { report.leftOut[reason, default: 0] += count }

  func write<Value: Sendable>(
    _ rule: @escaping @Sendable (WriteTransaction) throws(Refusal) -> Value
  ) async throws(ImportFault) -> Value {
    do throws(Refusal) { return try await community.store.write(rule) } catch { throw ImportFault(error) }
  }

  func read<Value: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws(Refusal) -> Value
  ) async throws(ImportFault) -> Value {
    do throws(Refusal) {
      return try await community.store.readInBackground { tx throws(Refusal) in try body(tx) }
    } catch { throw ImportFault(error) }
  }

  // MARK: Checks

  /// The users of the site that stand for users of the source, by key.
  private func knownUsers() async throws(ImportFault) -> [String: ID<User>] {
    let (wanted, importerName) = (options.users, options.importer)
    let found = try await read { tx throws(Refusal) in
      var ids: [String: ID<User>] = [:]
      for name in Set(wanted.values) { ids[name] = try tx.user(named: name) }
      let importer = if let importerName { try tx.user(named: importerName) } else { try tx.owner() }
      return (ids: ids, importer: importer)
    }
    guard let importer = found.importer else {
      throw ImportFault(
        importerName.map { "There is no user \($0). See parley user list." }
          ?? "The site has no owner. Run parley setup first.")
    }
    self.importer = importer
    for name in wanted.values where found.ids[name] == nil {
      throw ImportFault("There is no user \(name) of the table of users. See parley user list.")
    }
    var known: [String: ID<User>] = [:]
    var left = Set(wanted.keys)
    for user in overview.users.values {
      for key in [user.key, user.name, user.email].compactMap(\.self) {
        guard let name = wanted[key] else { continue }
        known[user.key] = found.ids[name]
        left.remove(key)
      }
    }
    if let unknown = left.sorted().first {
      throw ImportFault(
        "The source has no user \(unknown) of the table of users. Use an id, a name or a mail address of it.")
    }
    for name in options.visibility.keys.sorted() where !overview.forums.contains(where: { isName(name, of: $0) }) {
      let keys = overview.forums.filter { $0.title == name }.map(\.key).sorted()
      throw ImportFault(
        keys.isEmpty
          ? "The source has no forum \(name) of the table of forums. Use the names that --dry-run prints."
          : "The source has \(keys.count) forums \(name). Use their ids in the table of forums: \(keys.joined(separator: ", "))."
      )
    }
    return known
  }

  /// Ids of Discourse and Parley are unique on one site only.
  private func checkSite() async throws(ImportFault) {
    guard let site = overview.site else { return }
    let origin = origin
    let isDryRun = options.isDryRun
    let earlier = try await read { tx throws(Refusal) in try tx.importedSite(from: origin) }
    guard earlier == nil || earlier == site else {
      throw ImportFault(
        "Another site of \(origin) was imported before, and the ids of both are the same. Import it into a new site.")
    }
    guard earlier == nil, !isDryRun else { return }
    try await write { tx throws(Refusal) in try tx.noteImported(.site, site, from: origin, as: 0) }
  }

  // MARK: Result

  /// The user of the site for one of the source; nil for one that has left the site.
  func present(_ key: String) -> ID<User>? { users[key].flatMap { departed.contains($0) ? nil : $0 } }

  /// The name of a forum in the table of forums: its title, or its id if others have the title.
  private func name(of forum: SourceForum) -> String {
    overview.forums.filter { $0.title == forum.title }.count > 1 ? forum.key : forum.title
  }

  private func isName(_ name: String, of forum: SourceForum) -> Bool {
    name == self.name(of: forum) || name == forum.key
  }

  private func chosenVisibility(of forum: SourceForum) -> Visibility? {
    options.visibility[forum.key] ?? options.visibility[name(of: forum)]
  }

  func visibility(of forum: SourceForum) -> Visibility {
    chosenVisibility(of: forum) ?? forum.visibility.flatMap { Visibility(rawValue: $0) } ?? .private
  }

  private func forumTable() -> [ImportReport.Forum] {
    var topics: [String: Int] = [:]
    for conversation in overview.conversations where conversation.kind == .topic {
      topics[conversation.forum ?? "", default: 0] += 1
    }
    return overview.forums.map {
      ImportReport.Forum(title: name(of: $0), visibility: visibility(of: $0), topics: topics[$0.key] ?? 0)
    }
    .sorted { ($0.title, $0.topics) < ($1.title, $1.topics) }
  }

  /// Opens forums that an earlier import has made, as the table says.
  private func openForums() async throws(ImportFault) {
    let caller = Caller(user: importer, role: .owner, scope: .admin, session: nil)
    for forum in overview.forums {
      guard let wanted = chosenVisibility(of: forum), let id = forums[forum.key] else { continue }
      let before = try await read { tx throws(Refusal) in try tx.forum(id)?.visibility }
      guard let before, before != wanted else { continue }
      var change = ForumChange()
      change.fields.set(\.visibility, to: wanted)
      if wanted.isWider(than: before) { change.from = .beginning }
      do throws(Refusal) { _ = try await community.updateForum(id, change, by: caller) } catch {
        throw ImportFault(error)
      }
    }
  }

  private func noteAddresses() async throws(ImportFault) {
    let origin = origin
    let pairs = overview.addresses.compactMap { entry -> (String, Int)? in
      let id =
        switch entry.kind {
        case .user: users[entry.key]?.number
        case .forum: forums[entry.key]?.number
        }
      return id.map { (entry.address, $0) }
    }
    for some in pairs.pages(of: 1_000) {
      try await write { tx throws(Refusal) in
        for (address, id) in some { try tx.noteImported(.address, address, from: origin, as: id) }
      }
    }
  }
}

/// A conversation of the site that is filled.
struct ImportTarget: Sendable {
  let id: ID<Conversation>
  var state: ImportState
  let kind: SourceConversation.Kind
}

extension ImportFault {
  init(_ refusal: Refusal) {
    let text =
      switch refusal {
      case .diskFull: "The disk is full. Make room and import again: it continues."
      case .noRoom:
        "The files need more room than the site allows. Raise limit-files-site and import again: it continues."
      case .damaged: "The database is damaged. Restore a backup and import again."
      case .unavailable: "The database is busy. Import again: it continues."
      case .unauthenticated, .sessionEnded, .wrongCredentials, .forbidden, .notFound, .gone, .conflict, .clientIDReused,
        .invalid, .stepUpRequired, .secondFactorRequired, .secondFactorMissing, .notAdmitted, .banned, .silenced,
        .signUpsPaused, .tooMany, .tooLarge, .lastOwner, .taken, .rateLimited, .newcomer, .pollClosed, .secretRevoked,
        .contentRefused, .heldForReview, .commandFailed, .passwordSignInOff, .lastSignInMethod:
        "The import was refused: \(refusal.code). Import again: it continues."
      }
    self.init(text)
  }
}

extension Array {
  /// The elements in arrays of `size`; the last one may be shorter. Each is one transaction of an import.
  func pages(of size: Int) -> [[Element]] {
    stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
  }
}
