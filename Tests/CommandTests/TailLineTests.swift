import ParleyJSON
import ParleyModel
import Testing

@testable import ParleyProgram

@Suite struct TailLineTests {
  @Test(arguments: [
    (
      #"{"event":"message.created","id":"9","stream":"conversation:3","offset":2,"at":"2026-11-22T01:02:03.004Z","actor_id":"7","data":{"text":"hello"}}"#,
      "2026-11-22T01:02:03.004Z conversation:3 message.created by 7 \u{201c}hello\u{201d}"
    ),
    // Control sequences of users are removed.
    (
      #"{"event":"message.created","data":{"text":"a\u001b[31mb\nc\u202ed"}}"#,
      "message.created \u{201c}a [31mb c d\u{201d}"
    ),
    (#"{"event":"hidden","id":"9","stream":"conversation:3","offset":2}"#, "conversation:3 hidden"),
    (#"{"event":"complete","cursor":"x.1"}"#, "complete"),
    (#"{"event":"app","topic":"app:x","data":[1]}"#, "app"),
  ])
  func `an event is a line`(json: String, line: String) throws {
    #expect(try TailLine(Array(json.utf8)).text == line)
  }

  @Test func `the actor of an event appears by name`() throws {
    let json = #"{"event":"forum.updated","id":"9","stream":"forum:3","actor_id":"7"}"#
    let text = try TailLine(Array(json.utf8)) { id in id == "7" ? "ada\u{1b}" : nil }.text
    #expect(text == "forum:3 forum.updated by ada ")
    #expect(TailLine.actor(of: Array(json.utf8)) == ID(7))
    #expect(TailLine.actor(of: Array("7".utf8)) == nil)
  }
}
