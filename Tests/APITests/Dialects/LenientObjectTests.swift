import ParleyJSON
import ParleyWire
import Testing

@testable import Dialects

@Suite struct LenientObjectTests {
  private static func object(_ value: String) throws -> LenientObject {
    LenientObject(try JSONValue(parsing: Array(#"{"a": \#(value)}"#.utf8)).object())
  }

  @Test(arguments: [("7", "7"), (#""7""#, "7"), (#""""#, ""), ("null", nil)] as [(String, String?)])
  func `text may be a number`(_ json: String, _ expected: String?) throws {
    var object = try Self.object(json)
    #expect(try object.text("a") == expected)
  }

  @Test(arguments: ["{}", "[]", "1.5", "true"])
  func `other values are no text`(_ json: String) throws {
    var object = try Self.object(json)
    #expect(throws: JSONError.self) { try object.text("a") }
  }

  @Test(arguments: [("7", 7), ("-7", -7), ("007", 7)])
  func `numbers of a query have digits alone`(_ text: String, _ expected: Int) {
    #expect(LenientValue.number(text) == expected)
  }

  @Test(arguments: ["", "-", "+7", "1.0", "x", "99999999999999999999"])
  func `other texts are no numbers`(_ text: String) { #expect(LenientValue.number(text) == nil) }

  @Test func `an absent member has no value`() throws {
    var object = try Self.object("1")
    #expect(try object.text("b") == nil)
    #expect(!object.has("b") && object.has("a"))
  }
}

@Suite struct BasicCredentialsTests {
  private static func read(_ field: String?) -> BasicCredentials? {
    var fields = Fields()
    if let field { fields.add("Authorization", field) }
    return BasicCredentials(fields)
  }

  @Test(arguments: [
    ("ada:wool", "ada", "wool"), ("ada:a:b", "ada", "a:b"), (":", "", ""), ("ada:", "ada", ""),
    ("grüße:ü", "grüße", "ü"),
  ])
  func `a name and a password`(_ text: String, _ name: String, _ password: String) {
    for scheme in ["Basic", "basic", "BASIC"] {
      let read = Self.read("\(scheme) \(Base64.encode(Array(text.utf8)))")
      #expect(read?.name == name && read?.password == password)
    }
  }

  @Test(arguments: ["Basic", "Basic ", "Basic !", "Basic YWRh", "Basic YWRhOndvb2w", "Basic /zo=", "Basic YWRhOg== x"])
  func `malformed credentials have an empty name`(_ field: String) {
    let read = Self.read(field)
    #expect(read?.name == "" && read?.password == "")
  }

  @Test(arguments: [nil, "Bearer YWRhOg==", "BasicYWRhOg=="])
  func `other fields are none`(_ field: String?) { #expect(Self.read(field) == nil) }
}
