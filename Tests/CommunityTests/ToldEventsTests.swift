import ParleyModel
import PubSub
import Testing

@testable import Community

@Suite struct ToldEventsTests {
  private static func key(_ event: Int, fromSeq: Int = 1) -> ToldEvents.Key {
    ToldEvents.Key(event: event, reader: StreamReader(.member, fromSeq: fromSeq))
  }

  @Test func `what was told is known while the log ends there`() {
    let told = ToldEvents()
    told.add([Self.key(1): [1], Self.key(1, fromSeq: 5): [2]], at: 7)
    told.add([Self.key(2): [3]], at: 7)
    #expect(told.texts(at: 7) == [Self.key(1): [1], Self.key(1, fromSeq: 5): [2], Self.key(2): [3]])
    #expect(told.texts(at: 6).isEmpty && told.texts(at: 8).isEmpty)
  }

  @Test func `with the next event all of it is forgotten`() {
    let told = ToldEvents()
    told.add([Self.key(1): [1]], at: 7)
    told.add([Self.key(2): [2]], at: 8)
    #expect(told.texts(at: 7).isEmpty)
    #expect(told.texts(at: 8) == [Self.key(2): [2]])
  }

  @Test func `a reader who saw an older end adds nothing`() {
    let told = ToldEvents()
    told.add([Self.key(2): [2]], at: 8)
    told.add([Self.key(1): [1]], at: 7)
    #expect(told.texts(at: 7).isEmpty)
    #expect(told.texts(at: 8) == [Self.key(2): [2]])
  }

  @Test func `it takes no more than its share of memory`() {
    let told = ToldEvents()
    let half = [UInt8](repeating: 0, count: ToldEvents.mostBytes / 2)
    for event in 1...3 { told.add([Self.key(event): half], at: 7) }
    #expect(told.texts(at: 7).count == 2)
    told.add([Self.key(1): half], at: 7)
    #expect(told.texts(at: 7).count == 2)
  }

  private static func missed(_ offset: Int, _ fromSeq: Int = 1, events: Int = 200) -> ToldEvents.Missed {
    ToldEvents.Missed(
      starts: [.init(.conversation(ID(1)), offset, StreamReader(.member, fromSeq: fromSeq))],
      bounds: PageBounds(events: events))
  }

  private static let page = ToldEvents.Page(hasMore: false)

  @Test func `whoever missed the same shares its page, and nobody else does`() {
    let told = ToldEvents()
    told.add(Self.page, for: Self.missed(5), at: 7)
    #expect(told.page(Self.missed(5), at: 7)?.content === Self.page.content)
    for other in [Self.missed(4), Self.missed(5, 2), Self.missed(5, events: 10)] {
      #expect(told.page(other, at: 7) == nil)
    }
    #expect(told.page(Self.missed(5), at: 8) == nil)
    told.add([Self.key(8): [8]], at: 8)
    #expect(told.page(Self.missed(5), at: 7) == nil)
    told.add(Self.page, for: Self.missed(5), at: 7)
    #expect(told.page(Self.missed(5), at: 7) == nil)
  }

  @Test func `no more pages are kept than there may be`() {
    let told = ToldEvents()
    for offset in 0...ToldEvents.mostPages { told.add(Self.page, for: Self.missed(offset), at: 7) }
    // The last one took the place of all of them.
    #expect(told.page(Self.missed(ToldEvents.mostPages - 1), at: 7) == nil)
    #expect(told.page(Self.missed(ToldEvents.mostPages), at: 7) != nil)
    let text = [UInt8](repeating: 0, count: ToldEvents.mostPageBytes / 2)
    let stream = EventStream.conversation(ID(1))
    let large = ToldEvents.Page(
      content: CatchUpPage.Content([CatchUpPage.Item(event: 1, stream: stream, offset: 1, text: text)]), hasMore: false)
    for offset in 101...103 { told.add(large, for: Self.missed(offset), at: 7) }
    #expect(told.page(Self.missed(101), at: 7) == nil && told.page(Self.missed(103), at: 7) != nil)
  }
}
