public enum SearchOrder: String, Sendable, Hashable, CaseIterable {
  case newest
  /// The best of the newest thousand matches, on one page; `before` finds older ones.
  case best
}
