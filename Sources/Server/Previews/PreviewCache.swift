import ParleyWire

/// What was found, for as long as it holds; the oldest goes when there is too much of it.
struct PreviewCache {
  private let limits: PreviewLimits
  private var entries: [WebAddress: Entry] = [:]
  private var pictures: [String: WebAddress] = [:]
  /// In the order in which they came; what has been replaced since is passed over.
  private var order: [(address: WebAddress, number: Int)] = []
  private var oldest = 0
  private var count = 0
  private(set) var bytes = 0

  private struct Entry {
    let outcome: LinkPreviews.Outcome
    let number: Int
    let bytes: Int
    let endsAt: Int64
  }

  init(_ limits: PreviewLimits) { self.limits = limits }

  var pages: Int { entries.count }

  func outcome(for address: WebAddress, now: Int64) -> LinkPreviews.Outcome? {
    guard let entry = entries[address], now < entry.endsAt else { return nil }
    return entry.outcome
  }

  /// Also one that holds no longer, until it is looked at anew: pages that show it are still open.
  func picture(_ key: String) -> PreviewPicture? {
    guard let address = pictures[key], case .success(let preview) = entries[address]?.outcome else { return nil }
    return preview.picture
  }

  /// Keeps it, and gives it back as it is kept: the same picture as before has the same key as before.
  mutating func keep(_ outcome: LinkPreviews.Outcome, for address: WebAddress, now: Int64) -> LinkPreviews.Outcome {
    var outcome = outcome
    if case .success(var preview) = outcome, let picture = preview.picture,
      case .success(let before) = entries[address]?.outcome, before.picture?.bytes == picture.bytes
    {
      preview.picture = before.picture
      outcome = .success(preview)
    }
    remove(address)
    count += 1
    let (age, cost): (Int64, Int) =
      switch outcome {
      case .success(let preview): (limits.age, preview.cost)
      case .failure: (limits.faultAge, LinkPreview.leastCost)
      }
    entries[address] = Entry(
      outcome: outcome, number: count, bytes: cost + address.description.utf8.count, endsAt: now + age)
    bytes += entries[address]?.bytes ?? 0
    if case .success(let preview) = outcome, let key = preview.picture?.key { pictures[key] = address }
    order.append((address, count))
    while entries.count > limits.pages || bytes > limits.bytes, oldest < order.count { dropOldest() }
    // What was dropped, or replaced, need not stand in it any longer.
    if order.count > 2 * limits.pages {
      order = order[oldest...].filter { entries[$0.address]?.number == $0.number }
      oldest = 0
    }
    return outcome
  }

  private mutating func dropOldest() {
    let (address, number) = order[oldest]
    oldest += 1
    if entries[address]?.number == number { remove(address) }
  }

  private mutating func remove(_ address: WebAddress) {
    guard let entry = entries.removeValue(forKey: address) else { return }
    bytes -= entry.bytes
    if case .success(let preview) = entry.outcome, let key = preview.picture?.key { pictures[key] = nil }
  }
}

extension LinkPreview {
  /// In bytes, about.
  fileprivate var cost: Int {
    let texts = [url, title, about, siteName].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    return Self.leastCost + texts + (picture?.bytes.count ?? 0)
  }

  fileprivate static let leastCost = 512
}
