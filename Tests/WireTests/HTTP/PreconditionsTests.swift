import ParleyWire
import Testing

@Suite struct PreconditionsTests {
  @Test(arguments: [
    ("\"a\"", "\"a\""), ("W/\"a\"", "W/\"a\""), ("\"\"", "\"\""), ("\"a,b\" , W/\"c\"", "\"a,b\" W/\"c\""),
    (",\"a\",,\"b\",", "\"a\" \"b\""), ("\"a\" \"b\"", nil), ("a", nil), ("\"a", nil), ("w/\"a\"", nil), ("", nil),
    ("\"a b\"", nil), ("*", nil), ("W/a", nil), ("\"a\"b", nil),
  ])
  func `a list of entity tags is parsed`(_ text: String, _ tags: String?) {
    #expect(EntityTag.list(text)?.map(\.description).joined(separator: " ") == tags)
  }

  static let modified = 784_111_777
  static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
  static let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"

  static let rows: [(ParleyWire.Method, KeyValuePairs<String, String>, Preconditions.Outcome)] = [
    (Method.get, [:], .proceed),
    (.get, ["If-Match": "\"v1\""], .proceed), (.get, ["If-Match": "*"], .proceed),
    (.put, ["If-Match": "\"v0\", \"v1\""], .proceed), (.put, ["If-Match": "\"v0\""], .failed),
    (.put, ["If-Match": "W/\"v1\""], .failed), (.put, ["If-Match": "v1"], .failed),
    (.get, ["If-None-Match": "\"v1\""], .notModified), (.head, ["If-None-Match": "W/\"v1\""], .notModified),
    (.get, ["If-None-Match": "\"v0\""], .proceed), (.get, ["If-None-Match": "*"], .notModified),
    (.put, ["If-None-Match": "*"], .failed), (.put, ["If-None-Match": "\"v1\""], .failed),
    (.get, ["If-None-Match": "\"v0\"", "If-None-Match": "\"v1\""], .notModified),
    (.get, ["If-Modified-Since": date], .notModified), (.get, ["If-Modified-Since": earlier], .proceed),
    (.get, ["If-Modified-Since": "yesterday"], .proceed), (.post, ["If-Modified-Since": date], .proceed),
    (.get, ["If-Modified-Since": date, "If-None-Match": "\"v0\""], .proceed),
    (.put, ["If-Unmodified-Since": date], .proceed), (.put, ["If-Unmodified-Since": earlier], .failed),
    (.put, ["If-Unmodified-Since": earlier, "If-Match": "\"v1\""], .proceed),
    (.get, ["If-Match": "\"v0\"", "If-None-Match": "\"v1\""], .failed),
    (.get, ["If-Match": "\"v1\"", "If-None-Match": "\"v1\""], .notModified),
  ]

  @Test(arguments: rows)
  func `preconditions are evaluated in the order of the RFC`(
    _ method: ParleyWire.Method, _ fields: KeyValuePairs<String, String>, _ outcome: Preconditions.Outcome
  ) {
    let current = Preconditions.Current(tag: EntityTag("v1"), modified: PreconditionsTests.modified)
    #expect(Preconditions(method, Fields(fields), now: DateTests.now).evaluate(current) == outcome)
  }

  @Test func `without a current representation only creation is allowed`() {
    func evaluate(_ fields: KeyValuePairs<String, String>) -> Preconditions.Outcome {
      Preconditions(.put, Fields(fields), now: DateTests.now).evaluate(nil)
    }
    #expect(evaluate(["If-Match": "*"]) == .failed)
    #expect(evaluate(["If-None-Match": "*"]) == .proceed)
  }

  @Test(arguments: [
    ("\"v1\"", true), ("W/\"v1\"", false), ("\"v0\"", false), ("\"v1\", \"v1\"", false), (date, true), (earlier, false),
    ("x", false),
  ])
  func `If-Range allows a range only of the same version`(_ value: String, _ isAllowed: Bool) {
    let current = Preconditions.Current(tag: EntityTag("v1"), modified: PreconditionsTests.modified)
    #expect(Preconditions(.get, Fields(["If-Range": value]), now: DateTests.now).allowsRange(current) == isAllowed)
    #expect(Preconditions(.get, Fields(), now: DateTests.now).allowsRange(current))
  }
}
