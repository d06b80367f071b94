/// What a PATCH says about one field.
public enum Change<Value> {
  /// The field is absent.
  case unchanged
  /// The field is `null`.
  case cleared
  case set(Value)
}

extension Change: Sendable where Value: Sendable {}
extension Change: Equatable where Value: Equatable {}
extension Change: Hashable where Value: Hashable {}
