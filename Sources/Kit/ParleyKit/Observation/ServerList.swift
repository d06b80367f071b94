/// The loaded pages of a list of the server that has no events: the first page is loaded again after a change.
@MainActor
struct ServerList<Element> {
  typealias Page = (elements: [Element], next: String?)
  private(set) var elements: [Element] = []
  private(set) var next: String?
  private(set) var isLoaded = false
  /// The number of reloads. The page after a list that was reloaded in the meantime is dropped.
  private(set) var reloads = 0

  /// The most elements of a page.
  static var maxPage: Int { 200 }
  private static var size: Int { 50 }

  /// How many elements a reload requests: those shown, so that the list stays as long.
  var reloadLimit: Int { min(Self.maxPage, max(Self.size, elements.count)) }

  mutating func reload(_ page: Page) {
    (elements, next, isLoaded) = (page.elements, page.next, true)
    reloads += 1
  }

  /// Appends the page after the list as it was after `reload`.
  mutating func append(_ page: Page, after reload: Int) where Element: Identifiable {
    guard reload == reloads else { return }
    let known = Set(elements.map(\.id))
    elements += page.elements.filter { !known.contains($0.id) }
    next = page.next
  }
}
