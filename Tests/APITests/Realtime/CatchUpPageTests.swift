import ParleyModel
import PubSub
import TestSupport
import Testing

@testable import Community

/// State cached between catch-up pages does not change their content.
@Suite struct CatchUpPageTests {
  @Test(arguments: [1, 2, 3, 7, 100])
  func `catch-up with cached state returns the same pages`(limit: Int) async throws {
    try await Village.open(.inMemory) { village in
      try await village.shareForum("ada", "grace", "linus")
      let caller = try #require(try village.community.view().authenticate(village.token("grace")))
      let begun = try village.community.view().head()
      var talks: [String] = []
      for _ in 0..<3 { talks.append(try await village.conversation("group", by: "ada", with: ["grace", "linus"])) }
      var random = Seeded(seed: UInt64(limit))
      for number in 0..<20 {
        try await village.post("\(number)", in: talks.randomElement(using: &random) ?? "", by: "linus")
      }
      let cache = CatchUpCache()
      let bounds = PageBounds(events: limit)
      var (after, pages, hasMore) = (begun, 0, true)
      while hasMore, pages < 100 {
        let found = try await village.community.catchUp([.me], from: .after(after), bounds, for: caller, cache: cache)
        let same = try await village.community.catchUp([.me], from: .after(after), bounds, for: caller)
        guard case .page(let page) = found, case .page(let plain) = same else { throw Unlike() }
        #expect(page.items.map(\.event) == plain.items.map(\.event))
        #expect(page.items.map(\.text) == plain.items.map(\.text))
        #expect((page.through, page.hasMore, page.lost) == (plain.through, plain.hasMore, plain.lost))
        #expect(page.streams == plain.streams)
        (after, hasMore, pages) = (page.through, page.hasMore, pages + 1)
        // Between the pages the user is removed from one conversation, and messages arrive in the others.
        guard pages == 2 else { continue }
        try await village.expect(
          204, .delete, "/conversations/\(talks[0])/participants/\(village.id("grace"))", as: "ada")
        try await village.post("meanwhile", in: talks[1], by: "ada")
      }
      let head = try village.community.view().head()
      #expect(!hasMore && after == head)
    }
  }

  private struct Unlike: Error {}
}
