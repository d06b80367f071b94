import ParleyMarkup
import TestSupport
import Testing

/// One row of `Tests/Contract/markup.json`, which also tests the JavaScript parser.
struct MarkupCase: Decodable, Sendable, CustomTestStringConvertible {
  struct Entity: Decodable, Hashable, Sendable {
    let kind: String
    let pos: Int
    let len: Int
    let value: String
  }

  let name: String
  let text: String
  let limit: Int?
  /// The addresses of the attachments.
  let pictures: [String]?
  let html: String
  let entities: [Entity]
  let plain: String

  var testDescription: String { name }

  static var all: [MarkupCase] { get throws { try Checkout.cases("markup.json") } }
}

@Test func `there are enough cases with unique names`() throws {
  let cases = try MarkupCase.all
  #expect(cases.count >= 150)
  #expect(Set(cases.map(\.name)).count == cases.count)
}

@Test(arguments: try MarkupCase.all)
func `a case produces its HTML, entities and plain text`(row: MarkupCase) {
  let document = MarkupDocument(row.text)
  #expect(document.html(pictures: row.pictures ?? []) == row.html)
  #expect(document.plainText(limit: row.limit ?? .max) == row.plain)
  let entities = document.entities.map {
    MarkupCase.Entity(kind: "\($0.kind)", pos: $0.position, len: $0.length, value: $0.value)
  }
  #expect(entities == row.entities)
}

@Test(arguments: try MarkupCase.all)
func `the HTML of a case is well-formed and has only listed tags`(row: MarkupCase) throws {
  try HTMLChecker.check(MarkupDocument(row.text).html(pictures: row.pictures ?? []))
}
