/// An expected "no". The caller receives its code and no internal detail.
public enum Refusal: Error, Sendable, Hashable {
  /// Authentication is required.
  case unauthenticated
  /// The session or token was revoked.
  case sessionEnded
  /// The name or the password of a sign-in is wrong.
  case wrongCredentials
  /// The object is visible to the caller, but the operation is not permitted.
  case forbidden
  /// No object with this name or id is visible to the caller.
  case notFound
  /// The object existed and was deleted.
  case gone
  /// The request conflicts with the current state.
  case conflict
  /// This `client_id` was used before for another request.
  case clientIDReused
  /// Invalid fields. Never empty.
  case invalid([FieldFault])
  /// The operation needs a new proof that the session is the user's.
  case stepUpRequired(ProofMethods)
  /// The password of a sign-in is right; the challenge is to be answered with a code.
  case secondFactorRequired(challenge: String, expiresAt: Int64)
  /// The operator has switched sign-in by password off.
  case passwordSignInOff
  /// Without the account the user could not sign in any more.
  case lastSignInMethod
  /// The site requires a second factor, and the user has set up none.
  case secondFactorMissing
  /// The user is authenticated but not active: pending or disabled.
  case notAdmitted(UserState)
  /// The user is authenticated but banned, without `until` permanently.
  case banned(until: Int64?, reason: String?)
  /// The user is silenced here, without `until` permanently.
  case silenced(until: Int64?, reason: String?)
  /// The staff has paused sign-ups.
  case signUpsPaused(until: Int64)
  /// The maximum number of objects is reached; the caller must delete some first.
  case tooMany(limit: Int)
  /// Over the size limit, in bytes.
  case tooLarge(limit: Int)
  /// The storage quota, in bytes, is exhausted.
  case noRoom(limit: Int)
  /// The site must keep at least one owner.
  case lastOwner
  /// The field's value must be unique and is in use.
  case taken(String)
  /// Rate limit exceeded; retry after `seconds`.
  case rateLimited(seconds: Int)
  /// A limit for users on probation is exceeded; retry at `until`, after `seconds`.
  case newcomer(Newcomers.Limit, max: Int, until: Int64, seconds: Int)
  /// The poll takes no more votes.
  case pollClosed
  /// The secret of the webhook was revoked; it needs a new one.
  case secretRevoked
  /// A rule of the staff refuses the text.
  case contentRefused
  /// A moderator reviews the post before it is published. A repeated request makes no second one.
  case heldForReview
  /// The program behind a slash command gave no usable answer.
  case commandFailed(CommandFault)
  /// The server can't do it now; a retry may succeed.
  case unavailable
  /// The database is damaged. The server writes nothing until the operator restores a backup.
  case damaged
  /// The disk of the server is full.
  case diskFull

  /// A refusal for one invalid field.
  public static func invalid(_ field: String, _ code: FieldFault.Code) -> Refusal {
    .invalid([FieldFault(field: field, code: code)])
  }

  /// The stable code of the API.
  public var code: String {
    switch self {
    case .unauthenticated: "unauthenticated"
    case .wrongCredentials: "wrong_credentials"
    case .forbidden: "forbidden"
    case .notFound: "not_found"
    case .gone: "gone"
    case .conflict: "conflict"
    case .clientIDReused: "client_id_reused"
    case .sessionEnded: "session_ended"
    case .invalid: "invalid"
    case .stepUpRequired: "step_up_required"
    case .passwordSignInOff: "password_sign_in_off"
    case .lastSignInMethod: "last_sign_in_method"
    case .secondFactorRequired: "second_factor_required"
    case .secondFactorMissing: "second_factor_missing"
    case .notAdmitted(let state): "account_\(state.rawValue)"
    case .banned: "account_\(UserState.disabled.rawValue)"
    case .silenced: "silenced"
    case .signUpsPaused: "sign_ups_paused"
    case .tooMany: "too_many"
    case .tooLarge: "too_large"
    case .noRoom: "no_room"
    case .lastOwner: "last_owner"
    case .taken: "taken"
    case .rateLimited: "rate_limited"
    case .newcomer: "newcomer_limited"
    case .pollClosed: "poll_closed"
    case .secretRevoked: "secret_revoked"
    case .contentRefused: "content_refused"
    case .heldForReview: "held_for_review"
    case .commandFailed(.unreachable): "command_unreachable"
    case .commandFailed(.timedOut): "command_timed_out"
    case .commandFailed(.invalidAnswer): "command_answer_invalid"
    case .unavailable: "unavailable"
    case .damaged: "database_damaged"
    case .diskFull: "disk_full"
    }
  }

  /// Whether the server is at fault, not the request: the same request may succeed later.
  public var isFault: Bool {
    switch self {
    case .unavailable, .damaged, .diskFull: true
    case .unauthenticated, .sessionEnded, .wrongCredentials, .forbidden, .notFound, .gone, .conflict, .clientIDReused,
      .invalid,
      .stepUpRequired, .secondFactorRequired, .secondFactorMissing, .passwordSignInOff, .lastSignInMethod,
      .notAdmitted, .banned, .silenced, .signUpsPaused, .tooMany,
      .tooLarge, .noRoom, .lastOwner, .taken, .rateLimited, .newcomer, .pollClosed, .secretRevoked, .contentRefused,
      .heldForReview, .commandFailed:
      false
    }
  }
}

/// Fault of one field of a request.
public struct FieldFault: Sendable, Hashable {
  /// Path to the field, such as `attachments[2]`.
  public let field: String
  /// The rule that the field violates.
  public let code: Code

  /// A fault of the field at a path.
  public init(field: String, code: Code) {
    self.field = field
    self.code = code
  }

  /// Rules that a field may violate.
  public enum Code: Sendable, Hashable {
    /// A required value is absent.
    case missing
    /// No such member or parameter exists.
    case unknownField
    /// The value has another form or is not allowed.
    case invalid
    /// Not one of these texts.
    case notAllowed([String])
    /// The text has too few characters.
    case tooShort(min: Int)
    /// The text has too many characters.
    case tooLong(limit: Int)
    /// The list has too many elements.
    case tooMany(limit: Int)
    /// The number is not in the range.
    case outOfRange(ClosedRange<Int>)
    /// A password that is among the first to be guessed.
    case tooCommon
    /// The value is in use elsewhere.
    case taken
    /// The referenced object does not exist or is not visible to the caller.
    case unknown
    /// The referenced object belongs to another parent.
    case mismatch
    /// The user does not accept messages, or may not receive them.
    case unreachable
    /// A code of a second factor that was used before.
    case used
    /// A recovery code that was used before, and none is left.
    case noneLeft
    /// A code of another time: the clock of the device is wrong.
    case clockOff
    /// The server has lost the key of its sealed secrets, so it can't check codes of authenticator apps.
    case keyLost
    /// A check of a passkey's answer failed.
    case passkey(PasskeyFault)

    /// The stable code of the API.
    public var name: String {
      switch self {
      case .missing: "missing"
      case .unknownField: "unknown_field"
      case .invalid, .notAllowed: "invalid"
      case .tooShort: "too_short"
      case .tooLong: "too_long"
      case .tooMany: "too_many"
      case .outOfRange: "out_of_range"
      case .tooCommon: "too_common"
      case .taken: "taken"
      case .unknown: "unknown"
      case .mismatch: "mismatch"
      case .unreachable: "unreachable"
      case .used: "used"
      case .noneLeft: "none_left"
      case .clockOff: "clock_off"
      case .keyLost: "key_lost"
      case .passkey(let fault): fault.rawValue
      }
    }
  }
}
