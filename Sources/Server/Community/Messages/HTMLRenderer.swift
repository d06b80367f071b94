import ParleyMarkup
public import ParleyModel
import Storage
import Synchronization

/// Renders the texts of messages as HTML. Large pages are rendered on one thread in the turns of the callers, so that
/// they delay neither an event loop nor the shared pool, and are cached.
final class HTMLRenderer: Sendable {
  private let queue = TurnQueue([SerialQueue("parley.rendering")])
  private let cache = Mutex(HTMLCache())
  private let html: @Sendable (Message.Content) -> String

  /// Texts up to this total size are rendered at once.
  private static let maxInlineBytes = 8_192
  /// The size of the texts of one page that get HTML. HTML can be ten times as large as its text.
  static let maxPageBytes = 131_072

  init(html: @escaping @Sendable (Message.Content) -> String = { $0.html }) { self.html = html }

  /// Returns the views with the HTML of their texts. Those beyond `maxPageBytes` of text get none, nor those with which the
  /// JSON of all is larger than a page. The first text gets HTML in any case.
  func addHTML(to views: [MessageView], for turn: Turn) async throws(Refusal) -> [MessageView] {
    var views = views
    var size = 0
    var indices: [Int] = []
    for index in views.indices {
      guard let content = views[index].message.content else { continue }
      size += content.text.utf8.count
      guard size <= Self.maxPageBytes || indices.isEmpty else { break }
      indices.append(index)
    }
    var page = HTMLPage(room: ListPage<MessageView>.maxBytes - views.reduce(0) { $0 + $1.size }, html: html)
    guard size > Self.maxInlineBytes else {
      page.texts = indices.map { (views[$0].message.content, nil) }
      for (index, html) in zip(indices, page.rendered()) { views[index].html = html }
      return views
    }
    let keys = indices.map { HTMLCache.Key(views[$0].message) }
    page.texts = cache.withLock { cache in zip(indices, keys).map { (views[$0].message.content, cache[$1]) } }
    let known = page.texts.map { $0.html != nil }
    let rendered = known.allSatisfy(\.self) ? page.rendered() : try await run(for: turn) { [page] in page.rendered() }
    for (index, html) in zip(indices, rendered) { views[index].html = html }
    cache.withLock { cache in
      for (number, html) in rendered.enumerated() where !known[number] { cache.add(html, for: keys[number]) }
    }
    return views
  }

  /// Runs work for the processor on the thread, in the caller's turn.
  func run<Value: Sendable>(
    for turn: Turn, _ work: @escaping @Sendable () -> Value
  ) async throws(Refusal) -> Value {
    let thread = try await queue.take(for: turn)
    defer { queue.putBack(thread, of: turn) }
    return await thread.run(work)
  }
}

extension Message.Content {
  /// The text as HTML. Pictures that it places have the addresses of the attachments.
  fileprivate var html: String { MarkupDocument(text).html(pictures: attachments.map(File.address)) }
}

extension Community {
  /// Runs work for the processor, such as a page, on the rendering thread, so that it does not block an event loop.
  public func render<Value: Sendable>(
    for caller: Caller, _ work: @escaping @Sendable () -> Value
  ) async throws(Refusal) -> Value {
    try await renderer.run(for: caller.turn, work)
  }
}

/// The texts of one page, some with cached HTML.
private struct HTMLPage: Sendable {
  /// The bytes of JSON that the HTML may add.
  let room: Int
  let html: @Sendable (Message.Content) -> String
  var texts: [(content: Message.Content?, html: String?)] = []

  /// The HTML of the leading texts that fit, at least of one.
  func rendered() -> [String] {
    var rendered: [String] = []
    var left = room
    // The loop ends early if the client disconnects.
    for text in texts where !Task.isCancelled {
      guard left > 0 || rendered.isEmpty else { break }
      let html = text.html ?? text.content.map(html) ?? ""
      left -= MessageView.size(ofHTML: html)
      guard left >= 0 || rendered.isEmpty else { break }
      rendered.append(html)
    }
    return rendered
  }
}

/// Two generations of entries bound the memory: when the younger one is full, the elder one is dropped.
private struct HTMLCache {
  struct Key: Hashable {
    let message: ID<Message>
    let revision: Int

    init(_ message: Message) {
      self.message = message.id
      revision = message.revision
    }
  }

  private var younger: [Key: String] = [:]
  private var elder: [Key: String] = [:]
  private var size = 0

  private static let maxGenerationBytes = 2 << 20

  subscript(_ key: Key) -> String? { younger[key] ?? elder[key] }

  mutating func add(_ html: String, for key: Key) {
    if size + html.utf8.count > Self.maxGenerationBytes {
      elder = younger
      younger = [:]
      size = 0
    }
    if younger.updateValue(html, forKey: key) == nil { size += html.utf8.count }
  }
}
