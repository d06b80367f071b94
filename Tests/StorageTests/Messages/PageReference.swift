import ParleyModel

/// The expected content of a page, from a scan of all messages: slow, but short enough to be obviously right.
struct PageReference {
  struct Row {
    var id: ID<Message>
    var author: ID<User>
    var at: Int64
    var isDeleted = false
    var isMachineOnly = false
  }

  /// All messages of a conversation; the first has `seq` 1.
  var rows: [Row] = []
  var muted: Set<ID<User>> = []

  struct Page: Equatable {
    var ids: [ID<Message>]
    var older: MessageQuery.Window?
    var newer: MessageQuery.Window?
    var skipped: [MessagePage.Skipped]
  }

  func page(_ query: MessageQuery) -> Page {
    let all = Array(1..<rows.count + 1)
    let seen = all.filter { $0 >= query.fromSeq && reason($0, query) == nil }
    let window = window(query)
    let inside = seen.filter { window.contains($0) }
    var page: ArraySlice<Int>
    var position = window.lowerBound
    switch query.window {
    case .around(let id):
      position = seq(id)
      let newer = inside.filter { $0 > position }
      let older = inside.filter { $0 <= position }
      let olderCount = min(older.count, max(query.limit - query.limit / 2, query.limit - newer.count))
      page = (older.suffix(olderCount) + newer.prefix(query.limit - olderCount))[...]
    case .all where query.order == .ascending, .between(after: .some, _), .betweenTimes(after: .some, _):
      page = inside.prefix(query.limit)
    case .all, .between, .betweenTimes, .aroundTime, .older, .newer:
      position = window.upperBound
      page = inside.suffix(query.limit)
    }
    let bounds = hasBothBounds(query) ? window : nil
    let older = seen.last { $0 < page.first ?? position && bounds?.contains($0) ?? true }
    let newer = seen.first { $0 > page.last ?? position - 1 && bounds?.contains($0) ?? true }
    let start = page.first == inside.first ? window.lowerBound : page.first ?? 0
    let end = page.last == inside.last ? window.upperBound : (page.last ?? 0) + 1
    let covered = all.filter { seq in
      guard window.contains(seq) else { return false }
      if let first = page.first, seq < first, inside.first != first { return false }
      if let last = page.last, seq > last, inside.last != last { return false }
      return true
    }
    let ids = page.map { rows[$0 - 1].id }
    return Page(
      ids: query.order == .ascending ? ids : ids.reversed(),
      older: older == nil ? nil : .older(than: start, in: bounds),
      newer: newer == nil ? nil : .newer(than: end - 1, in: bounds),
      skipped: skipped(covered.filter { !page.contains($0) }, query))
  }

  func seq(_ id: ID<Message>) -> Int { (rows.firstIndex { $0.id == id } ?? -1) + 1 }

  private func window(_ query: MessageQuery) -> Range<Int> {
    var start = 1
    var end = rows.count + 1
    switch query.window {
    case .all, .around, .aroundTime, .older, .newer: break
    case .between(let after, let before):
      if let after { start = seq(after) + 1 }
      if let before { end = seq(before) }
    case .betweenTimes(let after, let before):
      if let after { start = rows.prefix { $0.at <= after }.count + 1 }
      if let before { end = rows.prefix { $0.at < before }.count + 1 }
    }
    return start..<max(start, end)
  }

  private func hasBothBounds(_ query: MessageQuery) -> Bool {
    switch query.window {
    case .between(let after, let before): after != nil && before != nil
    case .betweenTimes(let after, let before): after != nil && before != nil
    case .all, .around, .aroundTime, .older, .newer: false
    }
  }

  private func reason(_ seq: Int, _ query: MessageQuery) -> MessagePage.Skipped.Reason? {
    let row = rows[seq - 1]
    if seq < query.fromSeq { return .beforeJoining }
    if row.isDeleted, !query.includesDeleted { return .deleted }
    if row.isMachineOnly, !query.includesMachineOnly { return .machineOnly }
    return query.viewer != nil && muted.contains(row.author) ? .muted : nil
  }

  private func skipped(_ seqs: [Int], _ query: MessageQuery) -> [MessagePage.Skipped] {
    var skipped: [MessagePage.Skipped] = []
    for seq in seqs {
      guard let reason = reason(seq, query) else { continue }
      if let last = skipped.last, last.seqs.upperBound == seq - 1,
        (last.reason == .beforeJoining) == (reason == .beforeJoining)
      {
        skipped[skipped.count - 1] = .init(last.seqs.lowerBound...seq, last.reason == reason ? reason : .several)
      } else {
        skipped.append(.init(seq...seq, reason))
      }
    }
    return skipped
  }
}
