// Rules of the staff about new messages: words, domains, mentions, pictures and first posts. They apply where other
// users read without being invited: in forums that are not private and in open channels and feeds. Moderators and bots
// are exempt.

public import ParleyModel
import Storage

/// The result of creating a rule.
public struct CreatedModerationRule: Sendable {
  public let rule: ModerationRule
  /// False if an earlier request with the same `client_id` created it.
  public let isNew: Bool
}

extension Community {
  public func createModerationRule(
    _ draft: ModerationRuleDraft, by caller: Caller
  ) async throws(Refusal) -> CreatedModerationRule {
    let actor = try caller.requireUser(.admin)
    let draft = try draft.checked(bounds)
    guard draft.fields.contains(\.name) else { throw .invalid("name", .missing) }
    let new = draft.fields.applied(to: .blank)
    guard new.hasCondition else { throw .invalid("words", .missing) }
    let bounds = bounds
    let created = try await store.write { tx throws(Refusal) in
      try tx.requireStaff(caller)
      if let clientID = draft.clientID, let previous = try tx.remembered(.rule, by: actor, clientID) {
        guard let earlier = try tx.moderationRule(ID(previous.subject)) else { throw .gone }
        guard earlier.revision > 1 || draft.fields.applied(to: earlier) == earlier else { throw .clientIDReused }
        return CreatedModerationRule(rule: earlier, isNew: false)
      }
      guard try tx.moderationRuleCount() < bounds.moderationRules else {
        throw .tooMany(limit: bounds.moderationRules)
      }
      let rule = try tx.add(new, by: actor)
      if let clientID = draft.clientID { try tx.remember(.rule, by: actor, clientID, subject: rule.id.number) }
      try tx.audit(.ruleCreated, by: actor, subject: rule.id.number, reason: rule.name)
      return CreatedModerationRule(rule: rule, isNew: true)
    }
    moderationRules.drop()
    return created
  }

  public func updateModerationRule(
    _ id: ID<ModerationRule>, _ change: ModerationRuleChange, by caller: Caller
  ) async throws(Refusal) -> ModerationRule {
    let actor = try caller.requireUser(.admin)
    let change = try change.checked(bounds)
    let updated = try await store.write { tx throws(Refusal) in
      try tx.requireStaff(caller)
      guard let before = try tx.moderationRule(id) else { throw .notFound }
      if let revision = change.ifRevision, revision != before.revision { throw .conflict }
      let after = change.fields.applied(to: before)
      guard after != before else { return before }
      guard after.hasCondition else { throw .invalid("words", .missing) }
      try tx.audit(
        .ruleChanged, by: actor, subject: id.number, reason: after.name,
        changes: after.changes(since: before, texts: ["name"]))
      return try tx.change(before, to: after)
    }
    moderationRules.drop()
    return updated
  }

  /// Idempotent. Posts that the rule holds stay in the queue.
  public func deleteModerationRule(_ id: ID<ModerationRule>, by caller: Caller) async throws(Refusal) {
    let actor = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      try tx.requireStaff(caller)
      guard let rule = try tx.moderationRule(id) else { return }
      try tx.delete(id)
      try tx.audit(.ruleDeleted, by: actor, subject: id.number, reason: rule.name)
    }
    moderationRules.drop()
  }

  /// The newest messages that a rule would have matched. It changes nothing.
  public func tryModerationRule(
    _ draft: ModerationRuleDraft, by caller: Caller
  ) async throws(Refusal) -> ModerationRuleTrial {
    _ = try caller.requireUser(.admin)
    let rule = try draft.checked(bounds).fields.applied(to: .blank)
    guard rule.hasCondition else { throw .invalid("words", .missing) }
    let bounds = bounds
    return try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      try tx.requireStaff(caller)
      return try tx.trial(of: rule, bounds)
    }
  }

  /// The enabled rules; read once after each change.
  func compiledRules() async throws(Refusal) -> CompiledRules {
    let (known, changes) = moderationRules.current
    if let known { return known }
    let rules = try await store.readInBackground { tx throws(Refusal) in
      CompiledRules(try tx.enabledModerationRules())
    }
    moderationRules.keep(rules, asOf: changes)
    return rules
  }
}

extension CommunityView {
  /// All rules, for moderators.
  public func listModerationRules(
    _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<ModerationRule> {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      try tx.requireModerator(caller, in: nil)
      return try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in try tx.moderationRules(slice) }
    }
  }

  public func getModerationRule(_ id: ID<ModerationRule>, for caller: Caller) throws(Refusal) -> ModerationRule {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      try tx.requireModerator(caller, in: nil)
      guard let rule = try tx.moderationRule(id) else { throw .notFound }
      return rule
    }
  }
}

// MARK: The check of a post

extension ReadTransaction {
  /// The rule that a new or changed text matches.
  ///
  /// - Parameters:
  ///   - title: of a new topic.
  ///   - options: of the poll. They and descriptions are plain text, but a domain in them is one that readers open.
  func rule(
    of rules: CompiledRules, matching text: ParsedText, title: String? = nil, options: [String] = [],
    attachments: [ID<File>], descriptions: [String] = [], by caller: Caller, in standing: Standing
  ) throws(Refusal) -> ModerationRule? {
    guard !rules.isEmpty, let author = caller.user, Permissions.obeysRules(caller.role, in: standing) else {
      return nil
    }
    return try rules.match(
      CompiledRules.Subject(
        text: ([title, text.markdown].compactMap { $0 } + options + descriptions).joined(separator: "\n"),
        links: text.links + (options + descriptions).flatMap(ParsedText.links(in:)),
        mentionCount: text.mentionCount,
        hasPicture: { () throws(Refusal) in
          for file in attachments where try self.keptFile(file)?.file.kind == "image" { return true }
          return false
        },
        isAmongFirst: { count throws(Refusal) in try self.isAmongFirst(count, by: author, before: nil) }))
  }

  fileprivate func trial(of rule: ModerationRule, _ bounds: Bounds) throws(Refusal) -> ModerationRuleTrial {
    let rules = CompiledRules([rule])
    var trial = ModerationRuleTrial()
    var last = ID<Message>(Int.max)
    var scanned = 0
    while scanned < bounds.trialScan, trial.examined < bounds.trialMessages {
      let chunk = min(500, bounds.trialScan - scanned)
      let found = try ruleSamples(before: last, scanning: chunk)
      for sample in found.samples.prefix(bounds.trialMessages - trial.examined) {
        trial.examined += 1
        let text = try ParsedText.again(sample.text, Bounds.unlimitedEntities)
        let isMatch = try rules.match(
          CompiledRules.Subject(
            text: ([sample.text] + sample.plainTexts).joined(separator: "\n"),
            links: text.links + sample.plainTexts.flatMap(ParsedText.links(in:)), mentionCount: text.mentionCount,
            hasPicture: { sample.hasPicture },
            isAmongFirst: { count throws(Refusal) in
              try self.isAmongFirst(count, by: sample.author, before: sample.id)
            }))
        guard isMatch != nil else { continue }
        trial.matched += 1
        guard trial.matches.count < bounds.trialMatches else { continue }
        trial.matches.append(
          ModerationRuleTrial.Match(
            message: sample.id, author: sample.author, conversation: sample.conversation,
            excerpt: Texts.excerpt(sample.text, scalars: 200), createdAt: sample.createdAt))
      }
      scanned += chunk
      guard let next = found.last else { break }
      last = next
    }
    return trial
  }
}

extension WriteTransaction {
  /// Holds a post for the moderators. A post that was held before, under its `client_id`, is not held again.
  func hold(
    _ post: HeldPost, by author: ID<User>, in conversation: ID<Conversation>?, of forum: ID<Forum>?,
    _ rule: ModerationRule, _ bounds: Bounds
  ) throws(Refusal) {
    if let clientID = post.clientID, try remembered(.heldPost, by: author, clientID) != nil { return }
    guard try heldPostCount(by: author, upTo: bounds.heldPosts) < bounds.heldPosts else {
      throw .tooMany(limit: bounds.heldPosts)
    }
    var report = NewReport(by: rule, of: author, holding: post)
    (report.conversation, report.forum) = (conversation, forum)
    let id = try add(report, notifying: bounds)
    if let clientID = post.clientID { try remember(.heldPost, by: author, clientID, subject: id.number) }
  }

  /// Reports a message that a rule matched.
  func report(_ message: Message, in forum: ID<Forum>?, _ rule: ModerationRule, _ bounds: Bounds) throws(Refusal) {
    var report = NewReport(by: rule, of: message.author)
    report.message = message.id
    (report.conversation, report.forum) = (message.conversation, forum)
    report.attach(message, context: [], maxBytes: bounds.reportContextBytes)
    _ = try add(report, notifying: bounds)
  }

  /// Moderators get one notification per user while reports by rules are open: a raid makes hundreds.
  private func add(_ report: NewReport, notifying bounds: Bounds) throws(Refusal) -> ID<Report> {
    let isFirst = try !hasOpenRuleReport(of: report.user)
    let id = try add(report)
    if isFirst { try notifyModerators(of: report, id, bounds) }
    return id
  }

  /// Publishes the post of a dismissed report. Throws `conflict` if its author may no longer post there.
  func publish(_ held: HeldPost, of report: inout Report, _ bounds: Bounds) throws(Refusal) {
    guard let author = try user(report.user), author.standing?.state == .active else { throw .conflict }
    let caller = Caller(user: report.user, role: author.summary.role, scope: .write, session: nil)
    let text = try ParsedText.again(held.text, bounds)
    if let title = held.title, let forum = report.forum {
      guard let standing = try standing(of: report.user, in: forum),
        Permissions.rights(of: caller.role, in: standing).isSuperset(of: [.read, .startTopics, .write])
      else { throw .conflict }
      let (topic, stored) = try startTopic(held, title, text, in: forum, by: caller, bounds)
      if let clientID = held.clientID {
        try remember(.conversation, by: report.user, clientID, subject: topic.number)
      }
      (report.message, report.conversation) = (stored?.id, topic)
    } else if let conversation = report.conversation {
      guard let standing = try standing(of: report.user, in: conversation),
        case let rights = Permissions.rights(of: caller.role, in: standing), rights.contains(.read),
        rights.contains(.write) || rights.contains(.reply) && held.replyTo != nil
      else { throw .conflict }
      var message = try NewMessage(held, in: conversation, by: report.user)
      if let anchor = held.replyTo, try position(of: anchor) == nil { message.replyTo = nil }
      report.message = try publish(&message, text, standing, by: caller, bounds).id
    }
    report.held = nil
  }
}

// MARK: Validation

extension Bounds {
  /// For stored texts, which were checked when they were posted.
  static let unlimitedEntities: Bounds = {
    var bounds = Bounds()
    (bounds.entities, bounds.mentions) = (.max, .max)
    return bounds
  }()
}

extension ModerationRule: CheckedRecord {
  public static func checked(
    _ fields: Patch<ModerationRule>, _ bounds: Bounds
  ) throws(Refusal) -> Patch<ModerationRule> {
    var fields = fields
    var check = FieldChecks()
    check { () throws(Refusal) in
      try fields.revise(\.name) { name throws(Refusal) in try Texts.line(name, "name", scalars: bounds.labelScalars) }
    }
    check { () throws(Refusal) in
      try fields.revise(\.words) { words throws(Refusal) in try RuleTerms.words(words, bounds) }
    }
    check { () throws(Refusal) in
      try fields.revise(\.domains) { domains throws(Refusal) in try RuleTerms.domains(domains, bounds) }
    }
    try check.finish()
    return fields
  }
}

private enum RuleTerms {
  static func words(_ words: [String], _ bounds: Bounds) throws(Refusal) -> [String] {
    guard words.count <= bounds.ruleWords else { throw .invalid("words", .tooMany(limit: bounds.ruleWords)) }
    var checked: [String] = []
    for (index, word) in words.enumerated() {
      let field = "words[\(index)]"
      let word = try Texts.line(word, field, scalars: bounds.ruleWordScalars)
      let parts = SearchText.words(of: word, isQuery: true)
      guard !parts.isEmpty else { throw .invalid(field, .invalid) }
      guard parts.count <= bounds.rulePhraseWords else {
        throw .invalid(field, .tooMany(limit: bounds.rulePhraseWords))
      }
      if !checked.contains(word) { checked.append(word) }
    }
    return checked
  }

  static func domains(_ domains: [String], _ bounds: Bounds) throws(Refusal) -> [String] {
    guard domains.count <= bounds.ruleDomains else {
      throw .invalid("domains", .tooMany(limit: bounds.ruleDomains))
    }
    var checked: [String] = []
    for (index, domain) in domains.enumerated() {
      let field = "domains[\(index)]"
      let domain = try Texts.line(domain, field, scalars: LinkHost.maxLength).lowercased()
      guard LinkHost.of(domain) == domain, domain.contains("."), !domain.contains(where: \.isWhitespace) else {
        throw .invalid(field, .invalid)
      }
      if !checked.contains(domain) { checked.append(domain) }
    }
    return checked
  }
}
