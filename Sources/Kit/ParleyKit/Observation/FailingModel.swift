/// A model whose calls set its `failure`.
@MainActor
protocol FailingModel: AnyObject {
  var failure: (any ParleyFault)? { get set }
}

extension FailingModel {
  /// - Parameter keepingFailure: whether a success leaves an earlier failure.
  func attempt(keepingFailure: Bool = false, _ work: () async throws -> Void) async {
    do {
      try await work()
      if !keepingFailure { failure = nil }
    } catch { if !Task.isCancelled { failure = fault(of: error) } }
  }
}
