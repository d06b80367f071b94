import Foundation
import ParleyMarkup
import Testing

/// One row of cases.json. The twin of the parser in JavaScript is held to the same file.
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
  let html: String
  let entities: [Entity]
  let plain: String

  var testDescription: String { name }

  static let all: [MarkupCase] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "cases.json")
    do {
      return try JSONDecoder().decode([MarkupCase].self, from: Data(contentsOf: file))
    } catch {
      Issue.record("cases.json: \(error)")
      return []
    }
  }()
}

@Test func `there are enough cases, each with a name of its own`() {
  #expect(MarkupCase.all.count >= 150)
  #expect(Set(MarkupCase.all.map(\.name)).count == MarkupCase.all.count)
}

@Test(arguments: MarkupCase.all)
func `a case gives its HTML, its entities and its plain text`(row: MarkupCase) {
  let document = MarkupDocument(row.text)
  #expect(document.html == row.html)
  #expect(document.plainText(limit: row.limit ?? .max) == row.plain)
  let entities = document.entities.map {
    MarkupCase.Entity(kind: "\($0.kind)", pos: $0.position, len: $0.length, value: $0.value)
  }
  #expect(entities == row.entities)
}

@Test(arguments: MarkupCase.all)
func `the HTML of a case is well-formed and holds nothing that the list does not have`(row: MarkupCase) throws {
  try HTMLChecker.check(MarkupDocument(row.text).html)
}
