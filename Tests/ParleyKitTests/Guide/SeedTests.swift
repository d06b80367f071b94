import Foundation
import TestSupport
import Testing

/// The requirements of the earlier libraries, which `README.md` of these tests lists, have tests with their numbers.
@Suite struct SeedTests {
  private static let rows = [
    "MB-02a", "MB-13", "MB-16", "MB-18", "MB-31", "MB-44a", "AN-05", "AN-08", "AN-15", "AN-22a", "AN-24", "AN-32",
    "CK-03", "CK-09", "CK-09a", "CK-22", "SK-01", "SK-22", "SK-26", "SK-32", "SK-35", "SK-36", "SK-40",
  ]

  @Test func `each requirement has a test with its number`() throws {
    let table = try Checkout.text("Tests/ParleyKitTests/README.md").split(separator: "\n").map {
      $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }.filter { $0.count == 2 && $0[0].wholeMatch(of: /[A-Z]{2}-\d\da?/) != nil }
    #expect(table.map { $0[0] } == Self.rows)
    let folder = Checkout.root.appending(path: "Tests/ParleyKitTests")
    let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    let sources = try paths.filter { $0.hasSuffix(".swift") }.map { try Checkout.text("Tests/ParleyKitTests/\($0)") }
    let consumer = try Checkout.text("Tests/consumer/test_consumer.py")
    for row in Self.rows {
      let isTested = sources.contains { source in
        source.matches(of: /func `([A-Z]{2}-\d\da?):/).contains { $0.1 == row }
      }
      let method = "def test_\(row.lowercased().replacing("-", with: "_"))_"
      #expect(isTested || consumer.contains(method), "\(row)")
    }
  }
}
