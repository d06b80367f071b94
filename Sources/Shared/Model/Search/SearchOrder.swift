public enum SearchOrder: String, Sendable, Hashable, CaseIterable {
  case newest
  /// The best of the newest thousand, on one page: what comes before them is found with `before`.
  case best
}
