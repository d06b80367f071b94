// Buttons under the messages of bots. The server keeps no state of a button: its bot learns of each press and changes the
// message.

public import ParleyModel
import Storage

extension Community {
  /// Presses a button. Allowed for users who may write in the conversation, besides bots: two bots could press each
  /// other's buttons for ever.
  public func pressButton(
    _ draft: ButtonPressDraft, of id: ID<Message>, by caller: Caller
  ) async throws(Refusal) -> (press: ButtonPress, isNew: Bool) {
    let user = try caller.requireUser(.write)
    if let clientID = draft.clientID { try Texts.checkClientID(clientID, bounds) }
    return try await store.write { tx throws(Refusal) in
      let caller = try tx.reloadCaller(caller)
      let found = try tx.message(id, for: caller)
      if let clientID = draft.clientID, let earlier = try tx.remembered(.buttonPress, by: user, clientID) {
        guard let press = try tx.press(ID(earlier.subject)) else { throw .gone }
        guard press.message == id, press.button == draft.button else { throw .clientIDReused }
        return (press, false)
      }
      guard caller.role != .bot else { throw .forbidden }
      guard !found.rights.isDisjoint(with: [.write, .reply]) else {
        throw try tx.refusal(of: user, in: found.message.conversation, found.standing.isSilenced)
      }
      guard let content = found.message.content else { throw .gone }
      guard let button = content.buttons.first(where: { $0.id == draft.button }) else {
        throw .invalid("button_id", .unknown)
      }
      guard !button.isDisabled, let bot = try tx.recipient(of: found.message) else { throw .conflict }
      let press = try tx.addPress(of: button.id, on: found.message, by: user, tellingAlso: bot.standing?.owner)
      if let clientID = draft.clientID {
        try tx.remember(.buttonPress, by: user, clientID, subject: press.number)
      }
      guard let added = try tx.press(press) else { throw .unavailable }
      return (added, true)
    }
  }
}

extension ReadTransaction {
  /// The bot of a message with buttons; nil if it has left or may no longer read the conversation.
  fileprivate func recipient(of message: Message) throws(Refusal) -> User? {
    guard let bot = try user(message.author), bot.standing?.state == .active else { return nil }
    let reader = Caller(user: message.author, role: bot.summary.role, scope: .read, session: nil)
    do throws(Refusal) { _ = try rights(of: reader, in: message.conversation) } catch .notFound { return nil }
    return bot
  }
}

extension Caller {
  /// Presses are sent to bots alone.
  func checkMayHaveButtons() throws(Refusal) {
    guard role == .bot else { throw .invalid("buttons", .invalid) }
  }
}

extension [MessageButton] {
  func checked() throws(Refusal) -> [MessageButton] {
    guard count <= MessageButton.maxCount else { throw .invalid("buttons", .tooMany(limit: MessageButton.maxCount)) }
    var checked = self
    var check = FieldChecks()
    for index in indices {
      check { () throws(Refusal) in
        let (id, field) = (self[index].id, "buttons[\(index)].id")
        guard MessageButton.isID(id) else { throw .invalid(field, .invalid) }
        guard !self[..<index].contains(where: { $0.id == id }) else { throw .invalid(field, .taken) }
      }
      check { () throws(Refusal) in
        checked[index].label = try Texts.line(
          self[index].label, "buttons[\(index)].label", scalars: MessageButton.maxLabelScalars)
      }
    }
    try check.finish()
    return checked
  }
}
