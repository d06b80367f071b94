import ParleyJSON
import Testing

@testable import ParleyProgram

@Suite struct ControlLineTests {
  @Test(arguments: [
    ControlLine.progress(Progress("copying", done: 1, of: 2)), .progress(Progress("writing it \"anew\"")),
    .outcome(Outcome(.success, "Done: \"backup.tar\"\nand a second line")), .outcome(Outcome(.error, "")),
  ])
  func `a control line round-trips as one line`(line: ControlLine) throws {
    #expect(line.bytes.last == UInt8(ascii: "\n"))
    #expect(line.bytes.dropLast().contains(UInt8(ascii: "\n")) == false)
    #expect(try ControlLine(reading: line.bytes) == line)
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"doing":1,"done":1,"total":2}"#, #"{"doing":"copying","done":1}"#,
    #"{"status":3,"sentence":""}"#, #"{"status":0}"#, #"{"status":0,"sentence":"","more":1}"#,
  ])
  func `an invalid control line is an error`(text: String) {
    #expect(throws: JSONError.self) { try ControlLine(reading: Array(text.utf8)) }
  }
}
