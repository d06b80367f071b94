import ParleyJSON
import ParleyKit
import ParleyModel

/// The output of client commands: messages as text or JSON lines.
enum ClientOutput {
  static func print(_ messages: [Message], _ names: IncludedNames) -> Outcome {
    let style = Terminal.style
    for message in messages where !Terminal.print(MessageLines(message, names).formatted(style)) { break }
    return Outcome(.success, "")
  }

  /// Prints messages of the local cache and logs the fault that prevented a request.
  static func printCached(
    _ messages: [ShownMessage], _ fault: ClientFault, _ parley: Parley, _ settings: Settings
  ) async -> Outcome {
    logCached(fault)
    if settings.isOn(.json) {
      return lines(messages.flatMap { shown in shown.message.map { [raw($0)] } ?? shown.waiting.prefix(1).map(raw) })
    }
    let style = Terminal.style
    for shown in messages {
      let name = shown.author == nil ? nil : await parley.cache.user(shown.author ?? ID(0))?.summary.name
      var text: MessageLines
      if let message = shown.message {
        text = MessageLines(message, IncludedNames())
        text.text = shown.isDeleted ? nil : shown.text
      } else {
        text = MessageLines(id: nil, time: shown.displayDate, text: shown.text)
        text.notes = shown.pendingFiles.map { "file \($0.name)" } + ["unsent"]
      }
      text.author = name
      guard Terminal.print(text.formatted(style)) else { break }
    }
    return Outcome(.success, "")
  }

  static func logCached(_ fault: ClientFault) {
    Terminal.log("\(fault.userMessage) Showing cached data.")
  }

  static func raw(_ value: some JSONWritable) -> JSONRaw {
    var json = JSONWriter()
    json.value(value)
    return JSONRaw(trusted: json.bytes)
  }

  static func lines(_ values: [JSONRaw]) -> Outcome {
    Outcome(.success, values.map { String(decoding: $0.compact.bytes, as: UTF8.self) }.joined(separator: "\n"))
  }

  /// Prints one JSON object, or a text.
  static func result(_ json: JSONRaw, _ settings: Settings, _ text: String) -> Outcome {
    settings.isOn(.json) ? lines([json]) : Outcome(.success, text)
  }
}

extension Setting {
  static let limit = Setting(
    name: "limit", value: "N", summary: "maximum number of rows, up to 200", fallback: "20", isFlagOnly: true)
}

extension Settings {
  func limit() throws(UsageError) -> Int { try number(.limit, in: 1...200) ?? 20 }

  /// The text of an operand; `-` reads standard input.
  func messageText(_ operand: Int) throws(UsageError) -> String {
    let text = operands[operand] == "-" ? Terminal.input() : operands[operand]
    guard !text.isEmpty else { throw UsageError(message: "The message is empty.") }
    return text
  }

  /// The number of a message, as `read` prints it, with or without `#`.
  func messageID(_ text: String) throws(UsageError) -> ID<Message> {
    guard let id = ID<Message>(text.hasPrefix("#") ? String(text.dropFirst()) : text) else {
      throw UsageError(message: "\"\(text)\" is not the number of a message. parley read prints the numbers.")
    }
    return id
  }

  func messageID(_ setting: Setting) throws(UsageError) -> ID<Message>? {
    guard let text = text(setting) else { return nil }
    return try messageID(text)
  }
}
