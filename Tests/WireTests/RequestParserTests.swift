import Testing
import Wire

@Suite struct RequestParserTests {
  @Test func `a plain request is read`() throws {
    var parser = RequestParser()
    let input = Array("POST /a%20b?c=d HTTP/1.1\r\nHost: garden.example\r\nContent-Length: 5\r\n\r\nhello".utf8)
    let (head, length) = try #require(try parser.parse(input.span))
    #expect(head.method == .post)
    #expect(head.target == Target(path: "/a%20b", query: "c=d"))
    #expect(head.framing == .length(5))
    #expect(head.keepsAlive)
    #expect(head.fields["host"] == "garden.example")
    #expect(length == input.count - 5)
  }
}
