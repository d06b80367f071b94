import ParleyJSON
import Testing

@Suite struct ObjectTests {
  @Test func `a request is read by name`() throws {
    let draft = try Draft(
      json: try value(#"{"title":"garden","tags":["a","b"],"limit":20,"pinned":true,"bio":null,"at":{"lat":1.5}}"#))
    #expect(draft.title == "garden")
    #expect(draft.note == nil)
    #expect(draft.tags == ["a", "b"])
    #expect(draft.limit == 20)
    #expect(draft.isPinned)
    #expect(draft.bio == .cleared)
    #expect(draft.name == .unchanged)
    #expect(draft.latitude == 1.5)
  }

  @Test(arguments: [
    ("{}", "title", JSONFieldError.Reason.missing),
    (#"{"title":null}"#, "title", .wrongType(expected: .string)),
    (#"{"title":1}"#, "title", .wrongType(expected: .string)),
    (#"{"title":"t","note":1}"#, "note", .wrongType(expected: .string)),
    (#"{"title":"t","tags":["a",2]}"#, "tags[1]", .wrongType(expected: .string)),
    (#"{"title":"t","tags":{}}"#, "tags", .wrongType(expected: .array)),
    (#"{"title":"t","limit":0}"#, "limit", .notInRange(1...200)),
    (#"{"title":"t","pinned":1}"#, "pinned", .wrongType(expected: .bool)),
    (#"{"title":"t","bio":[]}"#, "bio", .wrongType(expected: .string)),
    (#"{"title":"t","at":[]}"#, "at", .wrongType(expected: .object)),
    (#"{"title":"t","at":{}}"#, "at.lat", .missing),
    (#"{"title":"t","at":{"x":[{}],"lat":"1"}}"#, "at.lat", .wrongType(expected: .number)),
    (#"{"title":"t","at":{"lat":1,"lon":2}}"#, "at.lon", .unknownField),
    (#"{"title":"t","Title":"t"}"#, "Title", .unknownField),
    ("[]", "", .wrongType(expected: .object)),
  ])
  func `the first error is reported with its field`(text: String, field: String, reason: JSONFieldError.Reason) {
    #expect(throws: JSONError.refused([JSONFieldError(field: field, reason: reason)])) {
      try Draft(json: try value(text))
    }
  }

  @Test func `all unknown fields are reported together, up to a limit`() throws {
    var object = try value(#"{"z":1,"title":"t","a":2}"#).object()
    _ = try object.string("title")
    #expect(
      throws: JSONError.refused([
        JSONFieldError(field: "z", reason: .unknownField), JSONFieldError(field: "a", reason: .unknownField),
      ])
    ) { try object.finish() }

    let many = try value("{\((0..<100).map { #""k\#($0)":0"# }.joined(separator: ","))}").object()
    #expect(fields { () throws(JSONError) in try many.finish() }.count == 20)
  }

  @Test func `absent, null and a value are distinguished`() throws {
    var object = try value(#"{"null":null,"set":"x"}"#).object()
    #expect(try object.change("absent") == Change<String>.unchanged)
    #expect(try object.change("null") == Change<String>.cleared)
    #expect(try object.change("set") == Change.set("x"))
    #expect(try object.optional("absent") == String?.none)
    #expect(try object.optional("null") == String?.none)
    #expect(try object.optional("set") == "x")
    #expect(try object.value("null").isNull)
    try object.finish()
  }

  @Test func `an escaped name is the same name`() throws {
    var object = try value(#"{"t\u0069tle":"x","\ud83c\udf55":1,"\n":2,"titl":3}"#).object()
    #expect(try object.string("title") == "x")
    #expect(try object.int("🍕") == 1)
    #expect(try object.int("\n") == 2)
    #expect(fields { () throws(JSONError) in try object.finish() }.map(\.field) == ["titl"])
  }

  @Test func `members with dynamic names can be listed`() throws {
    var object = try value(#"{"like":{"count":2},"star":{"count":1}}"#).object()
    #expect(object.members().map(\.name) == ["like", "star"])
    try object.finish()
  }

  @Test func `an error of the caller's rule has the field`() throws {
    let item = try value(#"{"owners":["7","x"]}"#).object()
    var object = item
    #expect(
      fields { () throws(JSONError) in
        let _: [Identifier] = try object.read("owners")
      } == [JSONFieldError(field: "owners[1]", reason: .invalid)])
  }

  @Test func `a long path is cut`() throws {
    let object = try value(#"{"\#(String(repeating: "é", count: 5_000))":1}"#).object()
    let field = fields { () throws(JSONError) in try object.finish() }.first?.field ?? ""
    #expect(field.utf8.count < 210 && field.hasPrefix("éé") && field.hasSuffix("…"))
  }

  @Test(arguments: [
    ("[[1,[2,[true]]]]", "[0][1][1][0]"), (#"{"a":{"b":[{},{"c":[0,0,true]}]}}"#, "a.b[1].c[2]"), ("true", ""),
    (#"[{"a":[{"b":1}]},{"a":[[],{"b":true}]}]"#, "[1].a[1].b"),
  ])
  func `a path identifies its value`(text: String, path: String) throws {
    #expect(firstTrue(in: try value(text)).map { fields(of: $0.error(.invalid)).map(\.field) } == [path])
  }
}

private struct Draft: JSONReadable {
  let title: String
  let note: String?
  let tags: [String]
  let limit: Int
  let isPinned: Bool
  let bio: Change<String>
  let name: Change<String>
  let latitude: Double?

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    title = try object.string("title")
    note = try object.optional("note")
    tags = try object.optional("tags") ?? []
    limit = try object.optional("limit") { limit throws(JSONError) in try limit.int(in: 1...200) } ?? 50
    isPinned = try object.optional("pinned") ?? false
    bio = try object.change("bio")
    name = try object.change("name")
    latitude = try object.optional("at") { location throws(JSONError) in
      var location = try location.object()
      let latitude = try location.double("lat")
      _ = try location.optional("x") { $0 }
      try location.finish()
      return latitude
    }
    try object.finish()
  }
}

private struct Identifier: JSONReadable {
  init(json value: JSONValue) throws(JSONError) {
    guard Int(try value.string()) != nil else { throw value.error(.invalid) }
  }
}

private func fields(_ body: () throws(JSONError) -> Void) -> [JSONFieldError] {
  do {
    try body()
    return []
  } catch {
    return fields(of: error)
  }
}

private func fields(of error: JSONError) -> [JSONFieldError] {
  if case .refused(let fields) = error { fields } else { [] }
}

private func firstTrue(in value: JSONValue) -> JSONValue? {
  if (try? value.bool()) == true { return value }
  if let items = try? value.array() { return items.lazy.compactMap(firstTrue).first }
  guard var object = try? value.object() else { return nil }
  return object.members().lazy.compactMap { firstTrue(in: $0.value) }.first
}
