import Testing

@testable import Dialects

@Suite struct KeptSessionsTests {
  private func session(_ token: String) -> KeptSession { KeptSession(token: token, passwordDigest: [7]) }

  @Test func `a session in use stays when a generation is dropped`() {
    var sessions = KeptSessions(capacity: 2)
    for (digest, token) in [([1], "a"), ([2], "b"), ([3], "c")] as [([UInt8], String)] {
      sessions.add(session(token), digest)
    }
    var found = [sessions.use([1])?.token, sessions.use([3])?.token]
    #expect(found == ["a", "c"])
    sessions.add(session("d"), [4])
    found = [sessions.use([1])?.token, sessions.use([2])?.token, sessions.use([4])?.token]
    #expect(found == ["a", nil, "d"])
  }

  @Test func `a replaced session is not removed`() {
    var sessions = KeptSessions(capacity: 2)
    sessions.add(session("a"), [1])
    sessions.add(session("b"), [1])
    sessions.remove(session("a"), [1])
    let replacing = sessions.use([1])?.token
    sessions.remove(session("b"), [1])
    let removed = sessions.use([1])?.token
    #expect(replacing == "b" && removed == nil)
  }

  @Test func `one sign-in is pending per digest`() {
    var sessions = KeptSessions(capacity: 2)
    var began = [sessions.begin([1]), sessions.begin([1]), sessions.begin([2])]
    #expect(began == [true, false, true])
    let waiting = sessions.finish([1])
    began = [sessions.begin([1]), sessions.begin([2])]
    #expect(waiting.isEmpty && began == [true, false])
  }
}
