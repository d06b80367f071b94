/// Where in the sources something was asked of the store, so that the log can name whose fault it was.
struct Place: Sendable, CustomStringConvertible {
  let file: StaticString
  let line: Int

  init(file: StaticString = #fileID, line: Int = #line) {
    self.file = file
    self.line = line
  }

  var description: String { "\(file):\(line)" }
}
