import ParleyModel
import Testing

@testable import Dialects

@Suite struct IDRangeTests {
  /// The ids 1 to 50, newest first, or in another order of the source.
  private static func page(
    _ query: String, of ids: [Int] = Array(1...50), isAscending: Bool = false,
    where isListed: @escaping (Int) -> Bool = { _ in true }
  ) async throws -> (items: [Int], meta: ListMeta) {
    let range = IDRange(try LenientQuery(query))
    return try await range.read(
      IDRange.Source<Int>(
        isAscending: isAscending, id: { $0 }, filter: { $0.filter(isListed) },
        read: { request in
          try ListPage(request, by: { ListKey([$0]) }) { slice throws(Refusal) in
            let isRising = isAscending != slice.isBackward
            let sorted = isRising ? ids : ids.reversed()
            let beyond = sorted.filter { id in
              guard let key = slice.key?.numbers.first else { return true }
              return isRising ? id > key : id < key
            }
            return Array(beyond.prefix(slice.limit))
          }
        }))
  }

  // The examples of the descriptions of App.net and pnut.
  @Test(arguments: [
    ("since_id=4&count=-20", Array((5...24).reversed())), ("since_id=4", Array((31...50).reversed())),
    ("before_id=6&count=4", [5, 4, 3, 2]), ("since_id=4&before_id=6", [5]), ("count=0", []),
    ("before_id=9&since_id=2&count=2", [8, 7]), ("before_id=9&since_id=2&count=-2", [4, 3]), ("since_id=50", []),
    ("before_id=1", []), ("count=-3", [3, 2, 1]), ("since_id=x&before_id=y&count=z", Array((31...50).reversed())),
  ])
  func `a page has the items nearest to its bound, newest first`(_ query: String, _ expected: [Int]) async throws {
    for isAscending in [false, true] {
      #expect(try await Self.page(query, isAscending: isAscending).items == expected, "\(isAscending)")
    }
    let cut = IDRange(try LenientQuery(query)).cut(Array((1...50).reversed())) { $0 }
    #expect(cut.items == expected)
  }

  @Test(arguments: [
    ("count=49", true), ("count=50", false), ("count=51", false), ("before_id=3&count=1", true),
    ("before_id=2&count=1", false), ("since_id=30", false), ("since_id=29", true), ("since_id=48&count=-1", true),
    ("since_id=49&count=-1", false), ("count=0", false), ("since_id=50", false),
  ])
  func `more tells of a further item within the bounds`(_ query: String, _ expected: Bool) async throws {
    #expect(try await Self.page(query).meta.more == expected)
    #expect(try await Self.page(query, isAscending: true).meta.more == expected)
    #expect(IDRange(try LenientQuery(query)).cut(Array((1...50).reversed())) { $0 }.meta.more == expected)
  }

  @Test func `a filter applies before the count`() async throws {
    let found = try await Self.page("count=10", of: Array(1...400)) { $0 % 10 == 0 }
    #expect(found.items == [400, 390, 380, 370, 360, 350, 340, 330, 320, 310])
    #expect(found.meta.more)
    #expect(found.meta.lowest == 310)
    #expect(found.meta.highest == 400)
  }

  @Test func `an empty page has no more`() async throws {
    let found = try await Self.page("count=10", of: Array(1...5_000)) { _ in false }
    #expect(found.items.isEmpty)
    #expect(!found.meta.more)
    #expect(found.meta.lowest == nil)
  }

  @Test func `a page that ends after the examined items has more`() async throws {
    let found = try await Self.page("count=10", of: Array(1...5_000)) { [4_990, 4_500, 1].contains($0) }
    #expect(found.items == [4_990, 4_500])
    #expect(found.meta.more)
    let rest = try await Self.page("before_id=1400&count=10", of: Array(1...5_000)) { $0 == 1_200 || $0 == 1 }
    #expect(rest.items == [1_200])
    #expect(rest.meta.more)
    let rising = try await Self.page("since_id=0&count=-10", of: Array(1...5_000)) { $0 == 500 || $0 == 5_000 }
    #expect(rising.items == [500])
    #expect(rising.meta.more)
  }

  private final class Reads {
    var limits: [Int] = []
  }

  @Test func `a filter that leaves all items out causes few reads`() async throws {
    let reads = Reads()
    let source = IDRange.Source<Int>(
      id: { $0 }, filter: { _ in [] },
      read: { request in
        reads.limits.append(request.limit)
        return try ListPage(request, by: { ListKey([$0]) }) { slice throws(Refusal) in
          let before = slice.key?.numbers.first ?? 5_001
          return Array((1..<before).reversed().prefix(slice.limit))
        }
      })
    #expect(try await IDRange(try LenientQuery("count=1")).read(source).items.isEmpty)
    #expect(reads.limits == [2, 200, 200, 200, 200, 200])
  }

  @Test(arguments: [
    ("count=1000", 200), ("count=-1000", -200), ("count=7", 7), ("count=-7", -7), ("count=many", 20), ("", 20),
  ])
  func `the count has bounds`(_ query: String, _ expected: Int) throws {
    #expect(IDRange(try LenientQuery(query)).count == expected)
  }
}
