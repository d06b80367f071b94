import ParleyModel
import Testing

@testable import Community

@Suite struct MessagePageCacheTests {
  private static func page(_ id: Int, bytes: Int = 1) -> MessagePageCache.Page {
    let message = Message(
      id: ID(id), conversation: ID(1), author: ID(2), clientID: nil, kind: .message, seq: id, previous: nil,
      replyTo: nil, isMachineOnly: false, createdAt: 0,
      state: .live(Message.Content(text: String(repeating: "a", count: bytes))))
    return MessagePageCache.Page(
      MessagePage(messages: [message], older: nil, newer: nil, skipped: [], marked: [], latestSeq: id, lastEvent: id))
  }

  private static func query(_ limit: Int) -> MessageQuery { MessageQuery(ID(1), limit: limit) }

  @Test func `a page is found for its query and its offset`() {
    let cache = MessagePageCache()
    cache.add(Self.page(1), for: Self.query(50), at: 7)
    #expect(cache.page(Self.query(50), at: 7)?.page.latestSeq == 1)
    #expect(cache.page(Self.query(49), at: 7) == nil)
    #expect(cache.page(Self.query(50), at: 6) == nil)
    #expect(cache.page(Self.query(50), at: 7) != nil)
  }

  @Test func `a later offset releases the page`() {
    let cache = MessagePageCache()
    cache.add(Self.page(1), for: Self.query(50), at: 7)
    #expect(cache.page(Self.query(50), at: 8) == nil)
    #expect(cache.size == 0)
    cache.add(Self.page(2), for: Self.query(50), at: 8)
    // Read before the other one.
    cache.add(Self.page(1), for: Self.query(50), at: 7)
    #expect(cache.page(Self.query(50), at: 8)?.page.latestSeq == 2)
  }

  @Test func `the cache is bounded in bytes`() {
    let cache = MessagePageCache()
    cache.add(Self.page(1, bytes: MessagePageCache.maxPageBytes), for: Self.query(50), at: 7)
    #expect(cache.size == 0)
    let page = Self.page(1, bytes: MessagePageCache.maxPageBytes / 3)
    for limit in 1...100 {
      cache.add(page, for: Self.query(limit), at: 7)
      #expect(cache.page(Self.query(limit), at: 7) != nil)
      #expect(cache.size <= MessagePageCache.maxBytes)
    }
    #expect(cache.page(Self.query(1), at: 7) == nil)
  }
}
