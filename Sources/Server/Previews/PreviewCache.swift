import ParleyWire

/// A cache of previews and failures with expiry times. At its limits it evicts the oldest entry first.
struct PreviewCache {
  private let limits: PreviewLimits
  private var entries: [WebAddress: Entry] = [:]
  private var pictures: [String: WebAddress] = [:]
  /// Insertion order. Replaced entries are skipped by their number.
  private var order: [(address: WebAddress, number: Int)] = []
  private var oldest = 0
  private var count = 0
  private(set) var bytes = 0

  private struct Entry {
    let outcome: LinkPreviews.Outcome
    let number: Int
    let bytes: Int
    let expiresAt: Int64
  }

  init(_ limits: PreviewLimits) { self.limits = limits }

  var pages: Int { entries.count }

  func outcome(for address: WebAddress, now: Int64) -> LinkPreviews.Outcome? {
    guard let entry = entries[address], now < entry.expiresAt else { return nil }
    return entry.outcome
  }

  /// The picture of an entry, expired or not: open pages may still show it.
  func picture(_ key: String) -> PreviewPicture? {
    guard let address = pictures[key], case .success(let preview) = entries[address]?.outcome else { return nil }
    return preview.picture
  }

  /// Stores an outcome and returns it as stored: an unchanged picture keeps the key of the previous entry.
  mutating func store(_ outcome: LinkPreviews.Outcome, for address: WebAddress, now: Int64) -> LinkPreviews.Outcome {
    var outcome = outcome
    if case .success(var preview) = outcome, let picture = preview.picture,
      case .success(let before) = entries[address]?.outcome, before.picture?.bytes == picture.bytes
    {
      preview.picture = before.picture
      outcome = .success(preview)
    }
    remove(address)
    count += 1
    let (maxAge, cost): (Int64, Int) =
      switch outcome {
      case .success(let preview): (limits.maxAge, preview.cost)
      case .failure: (limits.maxFaultAge, LinkPreview.baseCost)
      }
    entries[address] = Entry(
      outcome: outcome, number: count, bytes: cost + address.description.utf8.count, expiresAt: now + maxAge)
    bytes += entries[address]?.bytes ?? 0
    if case .success(let preview) = outcome, let key = preview.picture?.key { pictures[key] = address }
    order.append((address, count))
    while entries.count > limits.pages || bytes > limits.bytes, oldest < order.count { dropOldest() }
    // Compact: remove evicted and replaced entries.
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
  /// Approximate memory in bytes.
  fileprivate var cost: Int {
    let texts = [url, title, about, siteName].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    return Self.baseCost + texts + (picture?.bytes.count ?? 0)
  }

  fileprivate static let baseCost = 512
}
