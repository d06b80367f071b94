import Testing

@testable import Dialects

@Suite struct KeptSessionsTests {
  @Test func `a session in use stays when a generation is dropped`() {
    var sessions = KeptSessions(capacity: 2)
    for (digest, token) in [([1], "a"), ([2], "b"), ([3], "c")] as [([UInt8], String)] { sessions.add(token, digest) }
    var found = [sessions.use([1]), sessions.use([3])]
    #expect(found == ["a", "c"])
    sessions.add("d", [4])
    found = [sessions.use([1]), sessions.use([2]), sessions.use([4])]
    #expect(found == ["a", nil, "d"])
  }

  @Test func `a replaced token is not removed`() {
    var sessions = KeptSessions(capacity: 2)
    sessions.add("a", [1])
    sessions.add("b", [1])
    sessions.remove("a", [1])
    let replacing = sessions.use([1])
    sessions.remove("b", [1])
    let removed = sessions.use([1])
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
