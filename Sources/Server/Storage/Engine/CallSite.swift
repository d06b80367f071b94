/// The source location of a call, for log entries about slow or failed closures.
struct CallSite: Sendable, CustomStringConvertible {
  let file: StaticString
  let line: Int

  init(file: StaticString = #fileID, line: Int = #line) {
    self.file = file
    self.line = line
  }

  var description: String { "\(file):\(line)" }
}
