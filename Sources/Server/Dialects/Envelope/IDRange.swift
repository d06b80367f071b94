// Pages of App.net and pnut: by the ids of items, newest first. With a negative count, the oldest items after `since_id`.

import ParleyModel

/// `since_id`, `before_id` and `count` of a request.
struct IDRange {
  /// Both bounds are exclusive.
  private(set) var since: Int?
  private(set) var before: Int?
  private(set) var count = defaultCount

  static let defaultCount = 20
  static let maxCount = 200
  /// Items that are read for a page, if a filter leaves some out. The page then ends early.
  static let maxExamined = 1_000

  init(_ query: LenientQuery) {
    since = query.number("since_id")
    before = query.number("before_id")
    let wanted = query.number("count") ?? Self.defaultCount
    count = max(-Self.maxCount, min(Self.maxCount, wanted))
  }

  /// A list of the community, as a source of pages.
  struct Source<Item> {
    /// Whether its first item has the lowest id.
    var isAscending = false
    let id: (Item) -> Int
    /// The place of an id, whether there is an item or not; nil for the beginning of a list.
    var key: (Int) throws -> ListKey? = { ListKey([$0]) }
    /// The items that are listed.
    var filter: ([Item]) async throws -> [Item] = { $0 }
    let read: (PageRequest) async throws -> ListPage<Item>
  }

  /// The items of a page, newest first.
  func read<Item>(_ source: Source<Item>) async throws -> (items: [Item], meta: ListMeta) {
    guard count != 0 else { return ([], ListMeta()) }
    let isRising = count < 0
    let isBackward = isRising != source.isAscending
    let start = isRising ? since : before
    var request = PageRequest(limit: min(abs(count) + 1, Self.maxCount))
    request.position = ListPosition(isBackward ? .previous : .next, from: try start.flatMap(source.key))
    var found: [Item] = []
    var (examined, more) = (0, false)
    let (low, high) = (since ?? -1, before ?? Int.max)
    reading: while true {
      let page = try await source.read(request)
      let listed = try await source.filter(page.items)
      for item in isBackward ? listed.reversed() : listed {
        let id = source.id(item)
        // The place of a bound may be before it.
        let (isEarly, isLate) = isRising ? (id <= low, id >= high) : (id >= high, id <= low)
        if isEarly { continue }
        if isLate { break reading }
        guard found.count < abs(count) else {
          more = true
          break reading
        }
        found.append(item)
      }
      examined += request.limit
      guard let next = isBackward ? page.previous : page.next else { break }
      // The list goes on, and the client asks on.
      guard examined < Self.maxExamined else {
        more = !found.isEmpty
        break
      }
      // A filter left items out: few large pages cost less than many small ones.
      (request.position, request.limit) = (next, Self.maxCount)
      // Other requests of the event loop have a turn.
      await Task.yield()
    }
    if isRising { found.reverse() }
    let ids = found.map(source.id)
    return (found, ListMeta(more: more, lowest: ids.min(), highest: ids.max()))
  }

  /// The same of a whole list, newest first.
  func cut<Item>(_ items: [Item], by id: (Item) -> Int) -> (items: [Item], meta: ListMeta) {
    let (low, high) = (since ?? -1, before ?? Int.max)
    let within = items.filter { id($0) > low && id($0) < high }
    let page = count < 0 ? Array(within.suffix(-count)) : Array(within.prefix(count))
    let ids = page.map(id)
    return (
      page, ListMeta(more: !page.isEmpty && page.count < within.count, lowest: ids.min(), highest: ids.max())
    )
  }
}
