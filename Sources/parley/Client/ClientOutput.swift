import ParleyJSON
import ParleyKit
import ParleyModel

/// The output of client commands: messages as text or JSON lines.
enum ClientOutput {
  static func print(_ messages: [Message], _ session: CLISession) async throws -> Outcome {
    let names = try await session.names(of: Set(messages.map(\.author)))
    for message in messages {
      print(
        at: message.createdAt, names[message.author], message.content?.text,
        message.content?.attachments.count ?? 0)
    }
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
    for shown in messages {
      let name = shown.author == nil ? nil : await parley.cache.user(shown.author ?? ID(0))?.summary.name
      let files = (shown.message?.content?.attachments.count ?? 0) + shown.pendingFiles.count
      print(at: shown.displayDate, name, shown.isDeleted ? nil : shown.text, files, shown.isUnsent)
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

  /// Prints a message as one line. An `Outcome` would replace the escape sequences that make the name bold.
  private static func print(
    at time: Int64, _ author: String?, _ text: String?, _ files: Int, _ isUnsent: Bool = false
  ) {
    var parts = [Timestamp.format(Int(time)), Terminal.bold(Terminal.plain(author ?? "-"))]
    parts.append(text.map(Terminal.plain) ?? "(deleted)")
    if files > 0 { parts.append(files == 1 ? "(1 file)" : "(\(files) files)") }
    if isUnsent { parts.append("(unsent)") }
    Terminal.print(parts.filter { !$0.isEmpty }.joined(separator: "  ") + "\n")
  }
}

extension Setting {
  static let limit = Setting(
    name: "limit", value: "N", summary: "maximum number of rows, up to 200", fallback: "20", isFlagOnly: true)
}

extension Settings {
  func limit() throws(UsageError) -> Int { try number(.limit, in: 1...200) ?? 20 }
}
