import ParleyModel
import Testing

@Suite struct LogEventTests {
  @Test func `a line has the event, the fields and the sentence`() {
    #expect(LogEvent.stop.line() == "event=stop")
    #expect(
      LogEvent.signInFailed.line(["address": "192.0.2.7", "known": "no"])
        == "event=sign_in_failed address=192.0.2.7 known=no")
    #expect(
      LogEvent.backup.line(["path": "/a b\"c", "by": ""], "It failed.")
        == #"event=backup path="/a b\"c" by="" It failed."#)
  }

  @Test func `a text of others stays in its line`() {
    let line = LogEvent.alert.line(["name": "a\nevent=stop"], "disk\r\nparley: event=stop\u{9b}")
    #expect(line == #"event=alert name="a event=stop" disk  parley: event=stop "#)
  }

  @Test func `names are stable`() {
    #expect(
      LogEvent.allCases.map(\.rawValue) == [
        "start", "stop", "reload", "migration", "backup", "restore", "hook", "certificate", "alert", "restore_test",
        "sign_in_failed", "token_reused", "issuer_failed",
      ])
  }
}
