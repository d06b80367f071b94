/// Requests to push services, or mails, since the start: by kind and outcome. No count names a user, an address or an endpoint.
public struct DeliveryCounts: Sendable {
  public struct Label: Sendable, Hashable {
    public let kind: String
    public let outcome: String
  }

  private var counts: [Label: Int] = [:]

  mutating func add(_ kind: String, _ outcome: String) { counts[Label(kind: kind, outcome: outcome), default: 0] += 1 }

  /// The counts in a fixed order.
  public var all: [(label: Label, count: Int)] {
    counts.map { (label: $0.key, count: $0.value) }
      .sorted { ($0.label.kind, $0.label.outcome) < ($1.label.kind, $1.label.outcome) }
  }
}
