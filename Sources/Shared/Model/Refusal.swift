/// An expected "no". Whoever asked is told this, by its code, and nothing of the inside.
public enum Refusal: Error, Sendable, Hashable {
  /// Nobody is known to ask, and this is for users.
  case unauthenticated
  /// The asker may see that it is there, but not do this.
  case forbidden
  /// There is nothing of this name that the asker may see.
  case notFound
  /// It was here and is no longer.
  case gone
  /// What is there now does not fit what was asked.
  case conflict
  /// This `client_id` has made something else before.
  case clientIDReused
  /// Fields that can't be taken as they are. Never empty.
  case invalid([FieldFault])
  /// The user is known, but may not come in: waits, or was kept out.
  case notAdmitted(UserState)
  /// There are as many of them as there may be: some must go first.
  case tooMany(limit: Int)
  /// Larger than it may be, in bytes.
  case tooLarge(limit: Int)
  /// There is no room for more bytes than these.
  case noRoom(limit: Int)
  /// Somebody has to look after the place.
  case lastOwner
  /// Something else has what this field says, and no two may.
  case taken(String)
  /// Too much of it in this time; again after so many seconds.
  case rateLimited(seconds: Int)
  /// Too much for somebody new; again at `until`, after so many seconds.
  case newcomer(Newcomers.Limit, most: Int, until: Int64, seconds: Int)
  /// The server can't do it now; trying again later may help.
  case unavailable

  /// One field that can't be taken.
  public static func invalid(_ field: String, _ code: FieldFault.Code) -> Refusal {
    .invalid([FieldFault(field: field, code: code)])
  }

  /// The stable name, as the API gives it.
  public var code: String {
    switch self {
    case .unauthenticated: "unauthenticated"
    case .forbidden: "forbidden"
    case .notFound: "not_found"
    case .gone: "gone"
    case .conflict: "conflict"
    case .clientIDReused: "client_id_reused"
    case .invalid: "invalid"
    case .notAdmitted(let state): "account_\(state.rawValue)"
    case .tooMany: "too_many"
    case .tooLarge: "too_large"
    case .noRoom: "no_room"
    case .lastOwner: "last_owner"
    case .taken: "taken"
    case .rateLimited: "rate_limited"
    case .newcomer: "newcomer_limited"
    case .unavailable: "unavailable"
    }
  }
}

/// What is wrong with one field of what was asked.
public struct FieldFault: Sendable, Hashable {
  /// The way to it, such as `attachments[2]`.
  public let field: String
  public let code: Code

  public init(field: String, code: Code) {
    self.field = field
    self.code = code
  }

  public enum Code: Sendable, Hashable {
    case missing
    case unknownField
    case invalid
    case tooShort(least: Int)
    case tooLong(limit: Int)
    case tooMany(limit: Int)
    case outOfRange(ClosedRange<Int>)
    /// Someone or something else has it.
    case taken
    /// What it names is not there, or not for the asker.
    case unknown
    /// It belongs to something else than what is asked for.
    case mismatch
    /// They don't want to be written to, or may not be.
    case unreachable

    public var name: String {
      switch self {
      case .missing: "missing"
      case .unknownField: "unknown_field"
      case .invalid: "invalid"
      case .tooShort: "too_short"
      case .tooLong: "too_long"
      case .tooMany: "too_many"
      case .outOfRange: "out_of_range"
      case .taken: "taken"
      case .unknown: "unknown"
      case .mismatch: "mismatch"
      case .unreachable: "unreachable"
      }
    }
  }
}
