import ParleyJSON
import ParleyKit
import ParleyModel

extension Command {
  static let getFile = Command.client(
    "get-file", usage: "NUMBER [--output FILE] [--force] [--json]", operands: ["NUMBER"], summary: "download a file",
    description: """
      Downloads the file with the number that parley read prints, and prints its path. It resumes after a broken connection.
      The default path is the name of the file, in the working directory.
      """,
    settings: [GetFileCommand.output, GetFileCommand.overwrite, .json], operations: ["getFile", "getFileContent"],
    run: GetFileCommand.run)
}

enum GetFileCommand {
  fileprivate static let output = Setting(
    name: "output", value: "FILE", summary: "path of the file; - is standard output", isFlagOnly: true, letter: "o")
  fileprivate static let overwrite = Setting(
    name: "force", value: nil, summary: "replace an existing file", isFlagOnly: true)

  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    let session = try CLISession(settings)
    guard let id = ID<File>(settings.operands[0]) else {
      throw Settings.UsageError(
        message: "\"\(settings.operands[0])\" is not the number of a file. parley read prints the numbers.")
    }
    let file: Resource<File>
    do throws(ClientFault) {
      file = try await session.client.send(.getFile(id))
    } catch {
      guard error.problem?.code == "not_found" else { throw error }
      throw CommandRefusal(message: "There is no file \(id) that you can read. parley read prints the numbers.")
    }
    let path = settings.text(output) ?? localName(file.name)
    if path == "-" {
      guard !settings.isOn(.json) else {
        throw Settings.UsageError(message: "--json and --output - exclude each other.")
      }
      try await session.client.download(id) { bytes throws(ClientFault) in
        guard Terminal.print(bytes) else { throw .cancelled }
      }
      return Outcome(.success, "")
    }
    let target = try DownloadedFile(path, overwrites: settings.isOn(overwrite))
    let bar = ProgressBar.onTerminal
    defer { bar?.clear() }
    do {
      try await session.client.download(
        id, progress: { done, size in bar?.show(Progress(Terminal.plain(file.name), done: done, of: size ?? 0)) }
      ) { bytes throws(ClientFault) in
        // Not retryable, unlike a fault of the connection.
        guard target.append(bytes) else { throw .unreadable(path) }
      }
    } catch {
      try target.discard()
      guard case .unreadable = error else { throw error }
      throw Settings.UsageError(message: "Can't write \(path). Is the disk full?")
    }
    try target.finish()
    return ClientOutput.result(file.representation, settings, path)
  }

  /// The name of an uploaded file as a name in the working directory: never hidden, never in another folder.
  static func localName(_ name: String) -> String {
    let plain = Terminal.plain(name).replacing("/", with: "_")
    let visible = plain.hasPrefix(".") ? "_" + plain : plain
    return visible.isEmpty || visible == "-" ? "file" : visible
  }
}
