public import ParleyModel

/// A request body with limits that need no database.
public protocol CheckedInput: Sendable {
  /// The input with trimmed texts. Throws the faults of all fields.
  func checked(_ bounds: Bounds) throws(Refusal) -> Self
}

/// Runs the checks of a request and throws their field faults together.
struct FieldChecks {
  private var faults: [FieldFault] = []
  private var other: Refusal?

  mutating func callAsFunction(_ check: () throws(Refusal) -> Void) {
    do throws(Refusal) {
      try check()
    } catch {
      if case .invalid(let found) = error { faults += found } else if other == nil { other = error }
    }
  }

  /// Throws the faults of all checks.
  func finish() throws(Refusal) {
    if let other { throw other }
    if !faults.isEmpty { throw .invalid(faults) }
  }
}
