// Editing. The earlier text is kept as a revision until it or the message is deleted.

public import ParleyModel
import ParleySQLite

extension WriteTransaction {
  /// Maximum revision of a message that can be edited. It bounds the history, and with it the cost of a removal.
  static let lastEditableRevision = 500

  /// Replaces the text, the files, their descriptions, the buttons. An edit without a change is not written. Buttons alone
  /// leave no earlier text, and the message does not count as edited.
  ///
  /// - Returns: the new revision of the message.
  @discardableResult
  public func edit(
    _ id: ID<Message>, to text: MessageText?, attachments: [ID<File>]? = nil, descriptions: [String]? = nil,
    buttons: [MessageButton]? = nil, by editor: ID<User>, ifRevision expected: Int? = nil
  ) throws(Refusal) -> Int {
    let message = try state(of: id)
    guard message.deletion == nil, let earlier = message.text else { throw .gone }
    guard message.isOpen else { throw .notFound }
    if let expected, expected != message.revision { throw .conflict }
    let newText = text?.markdown == earlier ? nil : text
    let files = try otherFiles(of: id, attachments, descriptions)
    let hasOtherButtons = try buttons.map { buttons throws(Refusal) in try self.buttons(of: id) != buttons } ?? false
    guard newText != nil || files != nil || hasOtherButtons else { return message.revision }
    guard message.revision < Self.lastEditableRevision else { throw .conflict }

    if let buttons, hasOtherButtons { try setButtons(buttons, of: id) }
    guard newText != nil || files != nil else {
      try raiseRevision(of: id)
      try dropFingerprint(of: message)
      return try logChange(.edited, of: message, by: editor, keepsRevision: true)
    }
    if let entry = try searchEntry(of: id) { searchChanges.append(.remove(entry)) }
    try insertRevision(of: message, earlier)
    try setEdited(id, by: editor)
    if let newText { try replaceText(of: message, by: newText) }
    if message.isFirst, let newText { try setTags(of: message.conversation, newText.hashtags, by: editor) }
    if let files { try replace(files.before, of: id, by: files.after) }
    if let entry = try searchEntry(of: id) { searchChanges.append(.add(entry)) }
    try dropFingerprint(of: message)
    let keepsFiles = files.map { $0.before.files == $0.after.files } ?? true
    return try logChange(.edited, of: message, by: editor, keepsRevision: keepsFiles)
  }

  /// Deletes one earlier text. The revision of the message rises, so that clients reload the history.
  ///
  /// - Returns: the new revision of the message.
  @discardableResult
  public func deleteRevision(
    _ revision: Int, of id: ID<Message>, by actor: ID<User>
  ) throws(Refusal) -> Int {
    let message = try state(of: id)
    guard message.deletion == nil else { throw .gone }
    // The current text can only be deleted with the message.
    guard (1..<message.revision).contains(revision) else { throw .notFound }
    let count = try run { connection in
      try connection.execute(
        """
        delete from revision
        where message_id = $1 and revision = $2
        """, id.number, revision)
    }
    guard count > 0 else { return message.revision }
    try recordDestruction()
    try raiseRevision(of: id)
    return try logChange(.edited, of: message, by: actor)
  }

  private func raiseRevision(of id: ID<Message>) throws(Refusal) {
    try run { connection in
      try connection.execute("update message set revision = revision + 1 where id = $1", id.number)
    }
  }

  private func insertRevision(of message: MessageState, _ text: String) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        insert into revision (message_id, revision, text, entities, edited_at, edited_by)
        values ($1, $2, $3, $4, $5, $6)
        """, message.id.number, message.revision, text, message.entities, message.writtenAt, message.writtenBy)
    }
  }

  private func setEdited(_ id: ID<Message>, by editor: ID<User>) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update message
        set edited_at = $1, edited_by = $2, revision = revision + 1
        where id = $3
        """, Int(now), editor.number, id.number)
    }
  }

  private func replaceText(of message: MessageState, by text: MessageText) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        update message
        set text = $1, entities = $2
        where id = $3
        """, text.markdown, text.entities, message.id.number)
    }
    try removeTextRows(of: message.id)
    try addRows(of: text, to: message.id, in: message.conversation)
  }

  /// The files of an edited message with their descriptions, before and after; nil if they stay as they are.
  private func otherFiles(
    of message: ID<Message>, _ files: [ID<File>]?, _ descriptions: [String]?
  ) throws(Refusal) -> (before: AttachedFiles, after: AttachedFiles)? {
    guard files != nil || descriptions != nil else { return nil }
    let before = try attachedFiles(of: message)
    let known = Dictionary(zip(before.files, before.descriptions), uniquingKeysWith: { one, _ in one })
    let files = files ?? before.files
    let after = AttachedFiles(files, descriptions ?? files.map { known[$0] ?? "" })
    return after == before ? nil : (before, after)
  }

  private func replace(
    _ before: AttachedFiles, of message: ID<Message>, by files: AttachedFiles
  ) throws(Refusal) {
    try run { connection in
      try connection.execute("delete from attachment where message_id = $1", message.number)
    }
    // No revision keeps the earlier descriptions.
    if !Set(before.descriptions).subtracting([""]).isSubset(of: files.descriptions) { try recordDestruction() }
    try attach(files, to: message)
    try release(before.files)
  }
}
