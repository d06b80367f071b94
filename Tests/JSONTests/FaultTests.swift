import ParleyJSON
import Testing

/// A document with a collector reports every wrong field at once.
@Suite struct FaultTests {
  private struct Order: JSONReadable {
    init(json value: JSONValue) throws(JSONError) {
      var object = try value.object()
      _ = try object.string("title")
      _ = try object.int("limit", in: 10...20)
      _ = try object.read("at") { at throws(JSONError) in
        var at = try at.object()
        _ = try at.double("lat")
        try at.finish()
      }
      let tags: [String]? = try object.optional("tags")
      _ = tags
      _ = try object.bool("pinned")
      let bio: Change<String> = try object.change("bio")
      _ = bio
      _ = try object.raw("data")
      try object.finish()
    }
  }

  /// A rule beyond the type, which no stand-in satisfies.
  private struct Address: JSONReadable {
    init(json value: JSONValue) throws(JSONError) {
      var object = try value.object()
      _ = try object.int("floor")
      try object.read("name") { name throws(JSONError) in
        guard try name.string() == "home" else { throw name.error(.notAllowed(["home"])) }
      }
      _ = try object.int("door")
      try object.finish()
    }
  }

  private func faults<Value: JSONReadable>(_ text: String, of type: Value.Type = Order.self) -> [String] {
    let faults = JSONFaults()
    do throws(JSONError) {
      _ = try Value(json: JSONValue(parsing: Array(text.utf8), collecting: faults))
    } catch {
      if case .refused(let errors) = error, faults.errors.isEmpty { faults.record(errors) }
    }
    return faults.errors.map { "\($0.field) \($0.code)" }
  }

  @Test(arguments: [
    (
      "{}", ["title missing", "limit missing", "at missing", "pinned missing", "data missing"]
    ),
    (
      #"{"title":1,"limit":9,"at":[],"tags":"x","pinned":0,"bio":1,"data":{},"more":1,"much":2}"#,
      [
        "title wrong_type", "limit out_of_range", "at wrong_type", "tags wrong_type", "pinned wrong_type",
        "bio wrong_type", "more unknown_field", "much unknown_field",
      ]
    ),
    (
      #"{"title":"t","limit":10,"at":{"lat":"1","x":0},"tags":["a",1,null],"pinned":true,"data":0}"#,
      ["at.lat wrong_type", "at.x unknown_field", "tags[1] wrong_type", "tags[2] wrong_type"]
    ),
    (#"{"title":"t","limit":10,"at":{"lat":1},"pinned":true,"bio":null,"data":0}"#, []),
    ("[]", [" wrong_type"]), ("7", [" wrong_type"]),
  ])
  func `every wrong field is reported`(text: String, expected: [String]) {
    #expect(faults(text) == expected)
  }

  @Test func `a rule that no stand-in satisfies ends the reading, with the faults until there`() {
    #expect(
      faults(#"{"floor":"1","name":"work","door":"2"}"#, of: Address.self) == ["floor wrong_type", "name invalid"])
    #expect(
      faults(#"{"floor":"1","name":"home","door":"2","x":0}"#, of: Address.self) == [
        "floor wrong_type", "door wrong_type", "x unknown_field",
      ])
  }

  @Test func `the number of faults is limited`() {
    let tags = Array(repeating: "1", count: 1_000).joined(separator: ",")
    let text = #"{"title":"t","limit":10,"at":{"lat":1},"pinned":true,"data":0,"tags":[\#(tags)]}"#
    #expect(faults(text).count == 50)
  }

  @Test func `a text that is not JSON is malformed with a collector too`() {
    #expect(throws: JSONError.malformed(.unexpectedEnd, offset: 1)) {
      try JSONValue(parsing: Array("{".utf8), collecting: JSONFaults())
    }
  }
}
