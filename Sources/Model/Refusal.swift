/// An expected "no". Whoever asked is told this, by its code, and nothing of the inside.
public enum Refusal: Error, Sendable, Hashable {
  /// There is nothing of this name that the asker may see.
  case notFound
  /// It was here and is no longer.
  case gone
  /// What is there now does not fit what was asked.
  case conflict
  /// This `client_id` has made something else before.
  case clientIDReused
  /// The server can't do it now; trying again later may help.
  case unavailable

  /// The stable name, as the API gives it.
  public var code: String {
    switch self {
    case .notFound: "not_found"
    case .gone: "gone"
    case .conflict: "conflict"
    case .clientIDReused: "client_id_reused"
    case .unavailable: "unavailable"
    }
  }
}
