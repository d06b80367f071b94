import ParleyModel

/// A message as commands print it: one line, or a heading and the lines of its text.
///
/// The lines of a longer text are indented, so that no text looks like the heading of another message.
struct MessageLines {
  /// The id of the message; nil while it is unsent.
  var id: ID<Message>?
  /// Milliseconds since 1970.
  var time: Int64
  var author: String?
  /// Nil for a deleted message.
  var text: String?
  /// Such as `reply to 12` and `file 55 menu.pdf`.
  var notes: [String] = []

  private static let indentation = "    "

  /// - Parameter localTime: formats the time.
  func formatted(_ style: TextStyle, localTime: (Int64) -> String = Terminal.localTime) -> String {
    let lines = text.map { Terminal.plainLines($0) } ?? ["(deleted)"]
    var parts = [
      style.dim(id?.description ?? "-"), style.dim(localTime(time)), style.bold(Terminal.plain(author ?? "-")),
    ]
    let notes = notes.map { style.dim("(\(Terminal.plain($0)))") }
    if lines.count == 1 { parts += lines.filter { !$0.isEmpty } }
    parts += notes
    let heading = parts.joined(separator: "  ") + "\n"
    guard lines.count > 1 else { return heading }
    return heading + lines.map { $0.isEmpty ? "\n" : Self.indentation + $0 + "\n" }.joined()
  }
}

extension MessageLines {
  init(_ message: Message, _ names: IncludedNames) {
    self.init(
      id: message.id, time: message.createdAt, author: names.users[message.author] ?? message.author.description,
      text: message.content?.text)
    if let replied = message.replyTo { notes.append("reply to \(replied)") }
    guard let content = message.content else { return }
    if let post = content.repostOf { notes.append("repost of \(post)") }
    if content.edit != nil { notes.append("edited") }
    if let poll = content.poll {
      notes.append("poll: " + poll.options.map { "\($0.text) \($0.votes)" }.joined(separator: ", "))
    }
    if !content.buttons.isEmpty {
      notes.append(
        "buttons: " + content.buttons.map { $0.isPressed ? "\($0.label) (pressed)" : $0.label }.joined(separator: ", "))
    }
    notes += content.attachments.map { file in
      let words = ["file", file.description, names.files[file]].compactMap(\.self).joined(separator: " ")
      return content.description(of: file).map { "\(words): \($0)" } ?? words
    }
    notes += content.actions.map { action in
      "\(action.type.hasPrefix("reaction:") ? String(action.type.dropFirst(9)) : action.type) \(action.count)"
    }
  }
}
