import ParleyJSON
import ParleyModel
import ParleyWire
import Testing

@testable import Dialects

@Suite struct LenientBodyTests {
  private static let json = MediaType("application/json")
  private static let form = MediaType("application/x-www-form-urlencoded")

  private static func body(_ text: String, _ type: MediaType? = nil) throws -> LenientBody {
    try LenientBody(Array(text.utf8), type: type)
  }

  @Test(arguments: [
    #"{"text": "a", "id": 7, "flag": true, "list": ["a", 1], "part": {"x": "y"}, "none": null}"#,
    "text=a&id=7&flag=1&list=a,+1&part=%7B%22x%22:%22y%22%7D",
  ])
  func `JSON and forms have the same members`(_ text: String) throws {
    let body = try Self.body(text)
    #expect(try body.text("text") == "a")
    #expect(try body.text("id") == "7")
    #expect(try body.number("id") == 7)
    #expect(try body.flag("flag") == true)
    #expect(try body.list("list") == ["a", "1"])
    #expect(try body.object("part")?.text("x") == "y")
    #expect(try body.text("none") == nil)
    #expect(!body.has("none"))
    #expect(body.has("text"))
  }

  @Test(arguments: ["", " \r\n"])
  func `a missing body has no members`(_ text: String) throws {
    for type in [Self.json, Self.form, nil] { #expect(try Self.body(text, type).text("text") == nil) }
  }

  @Test func `the media type decides`() throws {
    #expect(try Self.body(#"{"text":"a"}"#, Self.form).text("text") == nil)
    #expect(throws: JSONError.self) { try Self.body("text=a", Self.json) }
  }

  @Test(arguments: ["[1]", "7", #""x""#, #"{"text":"#, #"{"a":1e999}"#])
  func `other JSON is refused`(_ text: String) {
    #expect(throws: JSONError.self) { try Self.body(text, Self.json) }
  }

  @Test func `JSON in a form has the numbers of JSON`() throws {
    let body = try Self.body("raw=%7B%22a%22:%5B1e999%5D%7D&text=%5B1e999%5D&part=%7B%22x%22:1e9%7D", Self.form)
    #expect(throws: JSONError.self) { _ = try body.object("raw") }
    #expect(throws: JSONError.self) { _ = try body.members("raw") }
    #expect(try body.text("text") == "[1e999]")
    #expect(try body.object("part") != nil)
  }

  @Test(
    arguments: [("true", true), ("1", true), ("False", false), ("0", false), ("yes", nil), ("", nil)]
      as [(String, Bool?)])
  func `flags are words or digits`(_ text: String, _ expected: Bool?) { #expect(LenientValue.flag(text) == expected) }

  @Test func `lists keep their order and their duplicates`() throws {
    #expect(LenientValue.list(" b,a , b,,") == ["b", "a", "b"])
    let ids: [ID<User>] = try LenientQuery("ids=5,%205,x,07,9").ids("ids")
    #expect(ids == [ID(5), ID(5), ID(9)])
  }
}
