import ParleyWire
import Testing

@Suite struct FieldsTests {
  static let fields = Fields([
    "Host": "garden.example", "Via": "a, \"b,c\" ,,d", "via": "e", "X-Empty": "", "Connection": "Keep-Alive, Upgrade",
  ])

  @Test func `names are case-insensitive and may repeat`() {
    let fields = FieldsTests.fields
    #expect(fields.count == 5)
    #expect(fields["host"] == "garden.example")
    #expect(fields["x-empty"] == "")
    #expect(fields["x"] == nil)
    #expect(fields.all("via") == ["a, \"b,c\" ,,d", "e"])
    #expect(fields.name(at: 2) == "via")
  }

  @Test func `a list has the members of all fields of its name and is not split within quotes`() {
    #expect(FieldsTests.fields.list("via") == ["a", "\"b,c\"", "d", "e"])
    #expect(FieldsTests.fields.hasToken("connection", "upgrade"))
    #expect(!FieldsTests.fields.hasToken("connection", "grade"))
  }

  @Test func `setting replaces all fields of a name with one`() {
    var fields = FieldsTests.fields
    fields.set("via", "f")
    #expect(fields.all("via") == ["f"])
    fields.remove("host")
    #expect(!fields.has("host"))
    #expect(fields.count == 3)
  }

  @Test func `a value cannot inject a field`() {
    var fields = Fields()
    fields.add("X", "a\r\nSet-Cookie: b\u{0}")
    fields.add("Y: z\r\n", "")
    #expect(String(decoding: fields.wireBytes, as: UTF8.self) == "X: a  Set-Cookie: b \r\nY__z__: \r\n")
  }

  @Test func `a value with invalid UTF-8 is decoded as Latin-1`() throws {
    var parser = RequestParser()
    let input = Array("GET / HTTP/1.1\r\nHost: a\r\nX: caf".utf8) + [0xe9] + Array("\r\nY: caf\u{e9}\r\n\r\n".utf8)
    let head = try #require(try parser.parse(input.span)).head
    #expect(head.fields["x"] == "caf\u{e9}")
    #expect(head.fields["y"] == "caf\u{e9}")
  }
}
