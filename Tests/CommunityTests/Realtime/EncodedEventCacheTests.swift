import ParleyModel
import PubSub
import Testing

@testable import Community

@Suite struct EncodedEventCacheTests {
  private static func key(_ event: Int, fromSeq: Int = 1) -> EncodedEventCache.Key {
    EncodedEventCache.Key(event: event, reader: StreamReader(.member, fromSeq: fromSeq))
  }

  @Test func `encoded events are cached for one end of the log`() {
    let encodedEvents = EncodedEventCache()
    encodedEvents.add([Self.key(1): [1], Self.key(1, fromSeq: 5): [2]], at: 7)
    encodedEvents.add([Self.key(2): [3]], at: 7)
    #expect(encodedEvents.texts(at: 7) == [Self.key(1): [1], Self.key(1, fromSeq: 5): [2], Self.key(2): [3]])
    #expect(encodedEvents.texts(at: 6).isEmpty && encodedEvents.texts(at: 8).isEmpty)
  }

  @Test func `a new event clears the cache`() {
    let encodedEvents = EncodedEventCache()
    encodedEvents.add([Self.key(1): [1]], at: 7)
    encodedEvents.add([Self.key(2): [2]], at: 8)
    #expect(encodedEvents.texts(at: 7).isEmpty)
    #expect(encodedEvents.texts(at: 8) == [Self.key(2): [2]])
  }

  @Test func `a reader with an older end of the log adds nothing`() {
    let encodedEvents = EncodedEventCache()
    encodedEvents.add([Self.key(2): [2]], at: 8)
    encodedEvents.add([Self.key(1): [1]], at: 7)
    #expect(encodedEvents.texts(at: 7).isEmpty)
    #expect(encodedEvents.texts(at: 8) == [Self.key(2): [2]])
  }

  @Test func `the cache is bounded in bytes`() {
    let encodedEvents = EncodedEventCache()
    let half = [UInt8](repeating: 0, count: EncodedEventCache.maxTextBytes / 2)
    for event in 1...3 { encodedEvents.add([Self.key(event): half], at: 7) }
    #expect(encodedEvents.texts(at: 7).count == 2)
    encodedEvents.add([Self.key(1): half], at: 7)
    #expect(encodedEvents.texts(at: 7).count == 2)
  }

  private static func missed(_ offset: Int, _ fromSeq: Int = 1, events: Int = 200) -> EncodedEventCache.PageKey {
    EncodedEventCache.PageKey(
      starts: [.init(.conversation(ID(1)), offset, StreamReader(.member, fromSeq: fromSeq))],
      bounds: PageBounds(events: events))
  }

  private static let page = EncodedEventCache.Page(hasMore: false)

  @Test func `readers with the same position and bounds share a page`() {
    let encodedEvents = EncodedEventCache()
    encodedEvents.add(Self.page, for: Self.missed(5), at: 7)
    #expect(encodedEvents.page(Self.missed(5), at: 7)?.content === Self.page.content)
    for other in [Self.missed(4), Self.missed(5, 2), Self.missed(5, events: 10)] {
      #expect(encodedEvents.page(other, at: 7) == nil)
    }
    #expect(encodedEvents.page(Self.missed(5), at: 8) == nil)
    encodedEvents.add([Self.key(8): [8]], at: 8)
    #expect(encodedEvents.page(Self.missed(5), at: 7) == nil)
    encodedEvents.add(Self.page, for: Self.missed(5), at: 7)
    #expect(encodedEvents.page(Self.missed(5), at: 7) == nil)
  }

  @Test func `the number of cached pages is bounded`() {
    let encodedEvents = EncodedEventCache()
    for offset in 0...EncodedEventCache.maxPages { encodedEvents.add(Self.page, for: Self.missed(offset), at: 7) }
    // The last page evicted the others.
    #expect(encodedEvents.page(Self.missed(EncodedEventCache.maxPages - 1), at: 7) == nil)
    #expect(encodedEvents.page(Self.missed(EncodedEventCache.maxPages), at: 7) != nil)
    let text = [UInt8](repeating: 0, count: EncodedEventCache.maxPageBytes / 2)
    let stream = EventStream.conversation(ID(1))
    let large = EncodedEventCache.Page(
      content: CatchUpPage.Content([CatchUpPage.Item(event: 1, stream: stream, offset: 1, text: text)]), hasMore: false)
    for offset in 101...103 { encodedEvents.add(large, for: Self.missed(offset), at: 7) }
    #expect(encodedEvents.page(Self.missed(101), at: 7) == nil && encodedEvents.page(Self.missed(103), at: 7) != nil)
  }
}
