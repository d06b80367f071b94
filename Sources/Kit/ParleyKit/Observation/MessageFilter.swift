import ParleyModel

// A filtered window shows some messages of its range. So the range is longer than that of another window: a move reads on
// until it has found enough messages, up to a limit, and the range ends where the list would exceed its own.

/// The filter of a window. Unsent messages are not filtered.
struct MessageFilter: Sendable {
  let isIncluded: @Sendable (ShownMessage) -> Bool
  /// The most messages of the list.
  let limit: Int

  /// Parts of the window's size that one move examines, and sizes of the range.
  static let examined = 10

  /// The messages that the list shows, and the indexes before which messages are missing.
  func apply(to content: WindowContent) -> (messages: [ShownMessage], gaps: [Int]) {
    let isShown = content.messages.map { $0.isUnsent || isIncluded($0) }
    let gaps = Set(content.gaps.map { gap in isShown.prefix(gap).count { $0 } })
    return (zip(content.messages, isShown).filter(\.1).map(\.0), gaps.sorted())
  }

  /// The range with at most `limit` messages of the list, or twice as many while the view is scrolled up.
  func bounded(_ content: WindowContent, droppingNewest: Bool) -> MessageWindow.Range {
    var range = content.range
    let shown = content.messages.filter { !$0.isUnsent && isIncluded($0) }.compactMap(\.message)
    let most = droppingNewest || range.isSticking ? limit : 2 * limit
    guard shown.count > most else { return range }
    if droppingNewest || range.last == nil && !range.isSticking {
      range.last = shown[most - 1].seq
    } else {
      range.first = shown[shown.count - most].seq
    }
    return range
  }
}

extension MessageWindow.Update {
  /// The number of sent messages in a part of the conversation.
  func count(where isCounted: (Int) -> Bool) -> Int {
    messages.count { shown in shown.message.map { isCounted($0.seq) } ?? false }
  }
}

extension WindowContent {
  /// Indexes of `messages` with missing messages right before them.
  var gaps: [Int] {
    let sent = messages.prefix { $0.replica != nil }.compactMap(\.message)
    var gaps = zip(sent, sent.dropFirst()).enumerated().filter { $0.element.0.id != $0.element.1.previous }
      .map { $0.offset + 1 }
    if let oldest = sent.first, oldest.seq > max(range.first ?? 1, from) { gaps.insert(0, at: 0) }
    if range.last == nil, hasUnfetched, !sent.isEmpty { gaps.append(sent.count) }
    return gaps
  }

  /// Whether the newest messages are missing.
  var hasUnfetched: Bool { end > messages.prefix { $0.replica != nil }.last?.message?.seq ?? 0 }
}
