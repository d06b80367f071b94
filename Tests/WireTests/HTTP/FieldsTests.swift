import Testing
import Wire

@Suite struct FieldsTests {
  @Test func `a value never starts a field of its own`() {
    var fields = Fields()
    fields.add("X", "a\r\nSet-Cookie: b\u{0}")
    #expect(String(decoding: fields.wireBytes, as: UTF8.self) == "X: a  Set-Cookie: b \r\n")
    fields.set("x", "c")
    #expect(fields.count == 1)
    #expect(fields["x"] == "c")
  }
}
