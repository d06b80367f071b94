public import ParleyModel

extension Problem {
  /// Codes of problems, as the documentation of errors lists them. A newer server may have more: treat an unknown one by its
  /// status, or by the kind of the fault.
  public struct Code: OpenWord {
    /// The code in JSON.
    public let rawValue: String

    /// Any code.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The user has deactivated the account.
    public static let accountDeactivated: Code = "account_deactivated"
    /// The user is banned.
    public static let accountDisabled: Code = "account_disabled"
    /// The account and its data have been erased.
    public static let accountErased: Code = "account_erased"
    /// The user has left the site.
    public static let accountLeft: Code = "account_left"
    /// Staff have not approved the user yet.
    public static let accountPending: Code = "account_pending"
    /// An earlier request with this `client_id` had other content.
    public static let clientIDReused: Code = "client_id_reused"
    /// The program of the slash command has answered with an error or an unreadable body.
    public static let commandAnswerInvalid: Code = "command_answer_invalid"
    /// The program of the slash command has not answered within 3 seconds.
    public static let commandTimedOut: Code = "command_timed_out"
    /// The program of the slash command can’t be reached.
    public static let commandUnreachable: Code = "command_unreachable"
    /// The resource has changed meanwhile, or its state does not permit the operation.
    public static let conflict: Code = "conflict"
    /// A moderation rule of the site refuses this text, link or picture, or an owner destroyed this file.
    public static let contentRefused: Code = "content_refused"
    /// The server found damage in its database and refuses all changes until the operator restores a backup.
    public static let databaseDamaged: Code = "database_damaged"
    /// The disk of the server is full.
    public static let diskFull: Code = "disk_full"
    /// The caller sees the resource but may not do this.
    public static let forbidden: Code = "forbidden"
    /// The resource was there and is no longer.
    public static let gone: Code = "gone"
    /// A moderation rule of the site holds the post until a moderator publishes or rejects it.
    public static let heldForReview: Code = "held_for_review"
    /// A fault of the server.
    public static let `internal`: Code = "internal"
    /// The body is not JSON, or fields or query parameters are wrong.
    public static let invalid: Code = "invalid"
    /// The OpenID provider of a linked account gives no usable answer.
    public static let issuerUnreachable: Code = "issuer_unreachable"
    /// The site needs an owner.
    public static let lastOwner: Code = "last_owner"
    /// Without this linked account the user could not sign in any more.
    public static let lastSignInMethod: Code = "last_sign_in_method"
    /// The server sends no mail.
    public static let mailOff: Code = "mail_off"
    /// The path exists and does not take this method.
    public static let methodNotAllowed: Code = "method_not_allowed"
    /// A new user has reached a limit that ends after some days and messages.
    public static let newcomerLimited: Code = "newcomer_limited"
    /// The storage of the user is full.
    public static let noRoom: Code = "no_room"
    /// The resource does not exist, or the caller cannot see it.
    public static let notFound: Code = "not_found"
    /// The request uses a method or a transfer coding that the server does not have.
    public static let notImplemented: Code = "not_implemented"
    /// The address of the site is an IP address.
    public static let passkeysOff: Code = "passkeys_off"
    /// The site signs users in at the `issuers` of `GET /server` alone.
    public static let passwordSignInOff: Code = "password_sign_in_off"
    /// The poll has reached its `closes_at` and takes no more votes.
    public static let pollClosed: Code = "poll_closed"
    /// A condition of the request, such as `If-Match`, is not met.
    public static let preconditionFailed: Code = "precondition_failed"
    /// The operator or the staff have disabled link previews.
    public static let previewsOff: Code = "previews_off"
    /// The server sends no push messages.
    public static let pushOff: Code = "push_off"
    /// The file has no bytes in that range.
    public static let rangeNotSatisfiable: Code = "range_not_satisfiable"
    /// Too many requests.
    public static let rateLimited: Code = "rate_limited"
    /// The site requires two-step sign-in of this user, who has not set it up in time.
    public static let secondFactorMissing: Code = "second_factor_missing"
    /// The password of the sign-in is right, and the user has two-step sign-in.
    public static let secondFactorRequired: Code = "second_factor_required"
    /// The secret of the webhook was revoked.
    public static let secretRevoked: Code = "secret_revoked"
    /// The session or token was revoked.
    public static let sessionEnded: Code = "session_ended"
    /// The staff has paused sign-ups, also those with an invite.
    public static let signUpsPaused: Code = "sign_ups_paused"
    /// The user may read but not write, on the whole site or in this forum.
    public static let silenced: Code = "silenced"
    /// The operation needs a recent proof that the session is the user’s.
    public static let stepUpRequired: Code = "step_up_required"
    /// Another resource has this value: a name of a user, a title of a forum.
    public static let taken: Code = "taken"
    /// The request did not arrive in time.
    public static let timeout: Code = "timeout"
    /// The body, the address or the header fields are too large.
    public static let tooLarge: Code = "too_large"
    /// The maximum number of these is reached.
    public static let tooMany: Code = "too_many"
    /// The credential is missing, invalid or expired.
    public static let unauthenticated: Code = "unauthenticated"
    /// The server is busy, starts or stops.
    public static let unavailable: Code = "unavailable"
    /// The request has fields or query parameters that the operation does not know, and no other fault.
    public static let unknownField: Code = "unknown_field"
    /// The body is not `application/json`.
    public static let unsupportedMediaType: Code = "unsupported_media_type"
    /// The server speaks HTTP/1.0 and HTTP/1.1.
    public static let versionNotSupported: Code = "version_not_supported"
    /// The name or the password of a sign-in is wrong.
    public static let wrongCredentials: Code = "wrong_credentials"
  }
}
