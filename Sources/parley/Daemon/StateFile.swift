import ParleyJSON

/// A file in the data folder with a state of the daemon, which a restart goes on from. On a full disk the state stays in memory.
struct StateFile<State: JSONReadable & JSONWritable & Sendable>: Sendable {
  private let path: String
  /// Its name in the log, such as "The history of alerts".
  private let title: String
  private let log: @Sendable (String) -> Void

  init(_ name: String, data: String, title: String, log: @escaping @Sendable (String) -> Void) {
    path = "\(data)/\(name)"
    self.title = title
    self.log = log
  }

  /// Nil without a readable file.
  func read() -> State? {
    guard FileSystem.exists(path), let bytes = try? FileSystem.read(path) else { return nil }
    return try? State(json: JSONValue(parsing: bytes))
  }

  /// Writes the state; nil removes the file. Returns whether it is written.
  @discardableResult
  func write(_ state: State?) -> Bool {
    guard let state else {
      try? FileSystem.remove(path)
      return true
    }
    var json = JSONWriter()
    json.value(state)
    do throws(Settings.UsageError) { try FileSystem.write(json.bytes, to: path) } catch {
      log("\(title) can't be written: \(error.message)")
      return false
    }
    return true
  }
}
