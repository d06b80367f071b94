/// The change of one field in a PATCH request.
public enum Change<Value> {
  /// The field is absent.
  case unchanged
  /// The field is `null`.
  case cleared
  /// A new value.
  case set(Value)
}

extension Change: Sendable where Value: Sendable {}
extension Change: Equatable where Value: Equatable {}
extension Change: Hashable where Value: Hashable {}
