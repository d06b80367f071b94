/// The loaded pages of a list of the server that has no events: the first page is loaded again after a change.
@MainActor
struct ServerList<Element> {
  typealias Page = (elements: [Element], next: String?)
  private(set) var elements: [Element] = []
  private(set) var next: String?
  private(set) var isLoaded = false
  /// The number of the last request that was started.
  private var started = 0
  /// The number of the request whose answer is shown. Answers of earlier requests are dropped, and so is the page after a
  /// list that was reloaded in the meantime.
  private(set) var shown = 0

  /// The most elements of a page.
  static var maxPage: Int { 200 }
  private static var size: Int { 50 }

  /// The number of elements that a reload requests: the shown ones, so that the list keeps its length.
  var reloadLimit: Int { min(Self.maxPage, max(Self.size, elements.count)) }

  /// Call it before the request whose answer goes to `reload`.
  mutating func start() -> Int {
    started += 1
    return started
  }

  /// Shows the first page. Returns false if the answer of a later request is shown, or if the list was cleared.
  mutating func reload(_ page: Page, of request: Int) -> Bool {
    guard request > shown else { return false }
    (elements, next, isLoaded, shown) = (page.elements, page.next, true, request)
    return true
  }

  /// Removes the elements, and drops the answers of running requests.
  mutating func clear() {
    (elements, next, isLoaded) = ([], nil, false)
    shown = start()
  }

  /// Appends the page after the list of a request. Returns false if the list is another one.
  mutating func append(_ page: Page, after request: Int) -> Bool where Element: Identifiable {
    guard request == shown else { return false }
    let known = Set(elements.map(\.id))
    elements += page.elements.filter { !known.contains($0.id) }
    next = page.next
    return true
  }
}
