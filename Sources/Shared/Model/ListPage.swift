// Pages of lists. A page starts at a sort key, never at a number of items, so that no item is lost or repeated while
// others come and go.

/// The sort key of an item in its list.
public struct ListKey: Sendable, Hashable {
  /// The numbers by which the list is sorted, such as a time and an id.
  public var numbers: [Int]
  /// Empty if the list is sorted by numbers only.
  public var text: String

  /// A key of numbers in the order of their comparison, with a text for a list that is sorted by text.
  public init(_ numbers: [Int], text: String = "") {
    self.numbers = numbers
    self.text = text
  }

  /// A key for a list that is sorted by id.
  public init<Thing>(_ id: ID<Thing>) { self.init([id.number]) }
}

/// Directions of a page from its position.
public enum PageDirection: Sendable, Hashable {
  /// Onwards in the order of the list.
  case next
  /// The page before, against the order of the list.
  case previous
}

/// The start of a page, in the direction in which it is read.
public struct ListPosition: Sendable, Hashable {
  /// The direction in which the page is read.
  public var direction: PageDirection
  /// Exclusive; nil for the end of the list at which the direction starts.
  public var key: ListKey?

  /// A position at an item, or at an end of the list.
  public init(_ direction: PageDirection, from key: ListKey?) {
    self.direction = direction
    self.key = key
  }
}

/// The page that a client requests.
public struct PageRequest: Sendable, Hashable {
  /// Nil for the first page.
  public var position: ListPosition?
  /// The maximum number of items in the page.
  public var limit: Int

  /// A request for the first page, or for the page at a position.
  public init(_ position: ListPosition? = nil, limit: Int) {
    self.position = position
    self.limit = limit
  }
}

/// The items that a query reads, nearest to the key first.
public struct ListSlice: Sendable, Hashable {
  /// Exclusive; nil for an end of the list.
  public var key: ListKey?
  /// Whether the items before the key are read, against the order of the list.
  public var isBackward: Bool
  /// The maximum number of items to read.
  public var limit: Int

  /// A slice that starts after a key, or at an end of the list.
  public init(after key: ListKey? = nil, isBackward: Bool = false, limit: Int) {
    self.key = key
    self.isBackward = isBackward
    self.limit = limit
  }
}

/// A page of a list, and the positions of its neighbours: nil if there are no items.
public struct ListPage<Item> {
  /// The items in the order of the list.
  public var items: [Item]
  /// The position of the next page; nil at the end of the list.
  public var next: ListPosition?
  /// The position of the previous page; nil at the start of the list.
  public var previous: ListPosition?

  /// The size in bytes at which a page ends.
  public static var maxBytes: Int { 1 << 20 }

  /// A page of items that were read before.
  public init(_ items: [Item], next: ListPosition? = nil, previous: ListPosition? = nil) {
    self.items = items
    self.next = next
    self.previous = previous
  }

  /// - Parameters:
  ///   - key: the sort key of an item, unique in the list.
  ///   - size: the size of an item. The page ends at `maxBytes`; a single item may exceed it.
  ///   - read: returns the items of a slice in its direction, at most `limit`.
  public init(
    _ request: PageRequest, by key: (Item) -> ListKey, size: (Item) -> Int = { _ in 0 },
    _ read: (ListSlice) throws(Refusal) -> [Item]
  ) throws(Refusal) {
    let isBackward = request.position?.direction == .previous
    var found = try read(
      ListSlice(after: request.position?.key, isBackward: isBackward, limit: request.limit + 1))
    let count = Self.fitting(found.prefix(request.limit), size)
    let hasMore = found.count > count
    found.removeLast(found.count - count)
    // The items that the position points away from may be gone, so their existence is read.
    var hasNearer = false
    if request.position != nil {
      hasNearer = try !read(ListSlice(after: found.first.map(key), isBackward: !isBackward, limit: 1)).isEmpty
    }
    if isBackward { found.reverse() }
    items = found
    if isBackward ? hasNearer : hasMore { next = ListPosition(.next, from: found.last.map(key)) }
    if isBackward ? hasMore : hasNearer { previous = ListPosition(.previous, from: found.first.map(key)) }
  }

  /// Ends the page where its items reach `maxBytes`, for items whose size is known after they were read. A single item may
  /// exceed it.
  public mutating func cut(_ request: PageRequest, by key: (Item) -> ListKey, size: (Item) -> Int) {
    let isBackward = request.position?.direction == .previous
    let count = isBackward ? Self.fitting(items.reversed(), size) : Self.fitting(items, size)
    guard count < items.count else { return }
    if isBackward {
      items.removeFirst(items.count - count)
      previous = ListPosition(.previous, from: items.first.map(key))
    } else {
      items.removeLast(items.count - count)
      next = ListPosition(.next, from: items.last.map(key))
    }
  }

  /// The number of leading items within `maxBytes`, at least one.
  private static func fitting(_ items: some Sequence<Item>, _ size: (Item) -> Int) -> Int {
    var (count, bytes) = (0, 0)
    for item in items {
      bytes += size(item)
      if count > 0, bytes > maxBytes { break }
      count += 1
    }
    return count
  }

  /// The page with other items, such as views of the same ones, and with the same neighbours.
  public func map<Other>(_ transform: ([Item]) throws(Refusal) -> [Other]) throws(Refusal) -> ListPage<Other> {
    ListPage<Other>(try transform(items), next: next, previous: previous)
  }
}

extension ListPage: Sendable where Item: Sendable {}
