// Polls in messages: votes of users, and closing by the author or a moderator.

public import ParleyModel
import Storage

extension Community {
  /// Sets the caller's vote. An empty list withdraws it.
  public func setVote(_ id: ID<Message>, for options: [Int], by caller: Caller) async throws(Refusal) -> MessageView {
    let user = try caller.requireUser(.write)
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      let poll = try found.requirePoll()
      guard Permissions.maySetActions(caller.role, in: found.standing) else {
        throw try tx.refusal(of: user, in: found.message.conversation, found.standing.isSilenced)
      }
      let options = try poll.checkedVote(options)
      if try tx.vote(of: user, in: id) != options {
        guard !poll.isClosed(at: tx.now) else { throw .pollClosed }
        try tx.setVote(options, in: id, of: found.message.conversation, by: user)
      }
      return try tx.currentView(id, by: caller, bounds)
    }
  }

  /// Closes a poll before its time. Allowed for its author and moderators.
  public func closePoll(of id: ID<Message>, by caller: Caller) async throws(Refusal) -> MessageView {
    let user = try caller.requireUser(.write)
    let bounds = bounds
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      let poll = try found.requirePoll()
      guard found.isBy(caller) || found.rights.contains(.moderate) else { throw .forbidden }
      if !poll.isClosed(at: tx.now) {
        let conversation = found.message.conversation
        try tx.closePoll(of: id, in: conversation, by: user)
        if !found.isBy(caller) {
          try tx.audit(.pollClosed, by: user, subject: id.number, in: try tx.forum(of: conversation))
        }
      }
      return try tx.currentView(id, by: caller, bounds)
    }
  }
}

extension CommunityView {
  /// The votes in a poll that is not anonymous, by option.
  public func listVotes(
    in id: ID<Message>, option: Int?, _ page: PageRequest, for caller: Caller
  ) throws(Refusal) -> ListPage<Vote> {
    _ = try caller.requireUser()
    return try read { tx throws(Refusal) in
      let poll = try tx.message(id, for: caller).requirePoll()
      guard !poll.isAnonymous else { throw .forbidden }
      return try ListPage(page, by: { ListKey([$0.option, $0.user.number]) }) { slice throws(Refusal) in
        try tx.votes(in: id, option: option, slice)
      }
    }
  }
}

extension CommunityView {
  /// Milliseconds since 1970, by the clock that closes polls.
  public func getTime() throws(Refusal) -> Int64 { try read { tx throws(Refusal) in tx.now } }
}

extension ReadableMessage {
  fileprivate func requirePoll() throws(Refusal) -> Poll {
    guard let content = message.content else { throw .gone }
    guard let poll = content.poll else { throw .notFound }
    return poll
  }
}

extension Poll {
  /// The options in ascending order.
  fileprivate func checkedVote(_ options: [Int]) throws(Refusal) -> [Int] {
    guard options.count <= choices else { throw .invalid("options", .tooMany(limit: choices)) }
    if let unknown = options.firstIndex(where: { !self.options.indices.contains($0) }) {
      throw .invalid("options[\(unknown)]", .unknown)
    }
    guard Set(options).count == options.count else { throw .invalid("options", .invalid) }
    return options.sorted()
  }
}

extension PollDraft {
  func checked() throws(Refusal) -> PollDraft {
    var checked = self
    var check = FieldChecks()
    let counts = Poll.optionCounts
    guard options.count >= counts.lowerBound else {
      throw .invalid("poll.options", .tooShort(min: counts.lowerBound))
    }
    guard options.count <= counts.upperBound else { throw .invalid("poll.options", .tooMany(limit: counts.upperBound)) }
    for index in options.indices {
      check { () throws(Refusal) in
        let field = "poll.options[\(index)]"
        checked.options[index] = try Texts.line(options[index], field, scalars: Poll.maxOptionScalars)
        guard !checked.options[..<index].contains(checked.options[index]) else { throw .invalid(field, .taken) }
      }
    }
    check { () throws(Refusal) in
      guard (1...options.count).contains(choices) else {
        throw .invalid("poll.choices", .outOfRange(1...options.count))
      }
    }
    try check.finish()
    return checked
  }

  /// A poll closes in the future, in a year at the latest.
  func checkClosing(after now: Int64) throws(Refusal) {
    guard let closesAt else { return }
    guard closesAt > now, closesAt <= now + Poll.maxDuration else { throw .invalid("poll.closes_at", .invalid) }
  }
}
