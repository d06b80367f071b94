// Maps refusals to problem documents (RFC 9457). Codes are part of the contract; titles are for developers.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
package import Web

extension Problem {
  /// The problem for an error thrown by a handler.
  package init(_ error: any Error) {
    switch error {
    case let problem as Problem: self = problem
    case let refusal as Refusal: self.init(refusal)
    case let error as JSONError: self.init(error)
    default: self = .broken(error)
    }
  }

  init(_ refusal: Refusal) {
    switch refusal {
    case .unauthenticated: self = .unauthenticated
    case .sessionEnded:
      self = .unauthenticated
      code = refusal.code
      title = "This session or token was revoked. Sign in again."
    case .wrongCredentials:
      self = .unauthenticated
      code = refusal.code
      title = "The name or the password is wrong."
    case .forbidden: self = Problem(.forbidden, code: refusal.code, title: "You may not do this.")
    case .notFound: self = .notFound
    case .gone: self = Problem(.gone, code: refusal.code, title: "It is no longer here.")
    case .conflict: self = Problem(.conflict, code: refusal.code, title: "It has changed meanwhile.")
    case .clientIDReused:
      self = Problem(.conflict, code: refusal.code, title: "This client_id has made something else before.")
    case .invalid(let faults): self = .invalid(faults.map(FieldProblem.init))
    case .stepUpRequired(let methods): self = .stepUpRequired(refusal.code, methods)
    case .passwordSignInOff, .lastSignInMethod:
      self = .signInMethods(refusal.code, isOff: refusal == .passwordSignInOff)
    case .secondFactorRequired(let challenge, let expiresAt):
      self = .secondFactorRequired(refusal.code, challenge, until: expiresAt)
    case .secondFactorMissing:
      self = Problem(.forbidden, code: refusal.code, title: "The site requires two-step sign-in. Set it up first.")
    case .notAdmitted: self = Problem(.forbidden, code: refusal.code, title: "This user may not sign in.")
    case .banned(let until, let reason):
      self = .sanction(refusal.code, "This user is banned.", until: until, reason: reason)
    case .silenced(let until, let reason):
      self = .sanction(refusal.code, "You are silenced.", until: until, reason: reason)
    case .signUpsPaused(let until):
      self = Problem(
        .forbidden, code: refusal.code, title: "Sign-ups are paused.",
        params: [("until", .text(Timestamp.format(Int(until))))])
    case .tooMany(let limit):
      self = Problem(
        .conflict, code: refusal.code, title: "There may be no more of these. Remove some first.",
        params: [("limit", .number(limit))])
    case .tooLarge(let limit): self = .tooLarge(limit: limit)
    case .noRoom(let limit):
      self = Problem(
        .contentTooLarge, code: refusal.code, title: "There is no room for it. Remove other files first.",
        params: [("limit", .number(limit))])
    case .lastOwner: self = Problem(.conflict, code: refusal.code, title: "The site needs an owner.")
    case .taken(let field):
      self = Problem(
        .conflict, code: refusal.code, title: "This value is already taken.",
        errors: [FieldProblem(FieldFault(field: field, code: .taken))])
    // The community's own limits, such as slow mode, have a burst of one.
    case .rateLimited(let seconds): self = .rateLimited(1, seconds: seconds)
    case .newcomer(let limit, let maxPerHour, let until, let seconds):
      self = .rateLimited(maxPerHour, seconds: seconds)
      code = refusal.code
      title = "Too many requests for a user on probation."
      params += [
        ("limit", .text(limit.rawValue)), ("max_per_hour", .number(maxPerHour)),
        ("until", .text(Timestamp.format(Int(until)))),
      ]
    case .pollClosed: self = Problem(.conflict, code: refusal.code, title: "This poll takes no more votes.")
    case .secretRevoked:
      self = Problem(.conflict, code: refusal.code, title: "The secret of this webhook was revoked. Create a new one.")
    case .contentRefused:
      self = Problem(.forbidden, code: refusal.code, title: "A rule of the site refuses this text.")
    case .heldForReview:
      self = Problem(.forbidden, code: refusal.code, title: "A moderator reviews it before it is published.")
    case .commandFailed(let fault): self = .commandFailed(refusal.code, fault)
    case .unavailable: self = .unavailable
    case .damaged:
      self = Problem(
        .serviceUnavailable, code: refusal.code,
        title: "The database is damaged. The operator has to restore a backup.",
        fields: ["Retry-After": "60"])
    case .diskFull:
      self = Problem(
        .serviceUnavailable, code: refusal.code,
        title: "The disk of the server is full. The operator has to make room.",
        fields: ["Retry-After": "60"])
    }
  }

  private static func commandFailed(_ code: String, _ fault: CommandFault) -> Problem {
    let title =
      switch fault {
      case .unreachable: "The program of this command can't be reached."
      case .timedOut: "The program of this command did not answer within 3 seconds. A reply may come later."
      case .invalidAnswer: "The program of this command gave an answer that can't be shown."
      }
    return Problem(.failedDependency, code: code, title: title)
  }

  private static func stepUpRequired(_ code: String, _ methods: ProofMethods) -> Problem {
    let words = [
      methods.hasPassword ? "your password" : nil, methods.hasPasskey ? "a passkey" : nil,
      methods.issuers.isEmpty ? nil : "a linked account",
    ].compactMap(\.self)
    let title = words.isEmpty ? "It has to be confirmed." : "Confirm it with \(words.joined(separator: " or "))."
    return Problem(
      .forbidden, code: code, title: title,
      params: [("methods", .list(methods.names))]
        + (methods.issuers.isEmpty ? [] : [("issuers", .list(methods.issuers))]))
  }

  private static func signInMethods(_ code: String, isOff: Bool) -> Problem {
    isOff
      ? Problem(.forbidden, code: code, title: "Sign-in by password is off on this site.")
      : Problem(.conflict, code: code, title: "This account is the only way to sign in.")
  }

  private static func secondFactorRequired(_ code: String, _ challenge: String, until end: Int64) -> Problem {
    Problem(
      .forbidden, code: code, title: "Enter a code of your authenticator app.",
      params: [
        ("challenge", .text(challenge)), ("expires_at", .text(Timestamp.format(Int(end)))),
        ("methods", .list(["totp", "recovery_code"])),
      ])
  }

  private static func sanction(_ code: String, _ title: String, until: Int64?, reason: String?) -> Problem {
    var problem = Problem(.forbidden, code: code, title: title)
    if let until { problem.params.append(("until", .text(Timestamp.format(Int(until))))) }
    if let reason { problem.params.append(("reason", .text(reason))) }
    return problem
  }

  init(_ error: JSONError) {
    switch error {
    case .malformed(let malformation, let offset):
      self = .badRequest("The body is not JSON: \(malformation.rawValue) at byte \(offset).")
    case .refused(let errors): self = .invalid(errors.map(FieldProblem.init))
    }
  }

  /// All faults of a request, one per field: a fault of a check may be the consequence of an earlier one.
  init(_ errors: [JSONFieldError], and faults: [FieldFault]) {
    let fields = Set(errors.map(\.field))
    self = .invalid(
      errors.map(FieldProblem.init) + faults.filter { !fields.contains($0.field) }.map(FieldProblem.init))
  }

  /// Reads a refused object again, to report every wrong field.
  /// - Parameter input: the part of the value with limits of its own.
  static func allFaults<Value>(
    of bytes: [UInt8], _ first: [JSONFieldError], _ bounds: Bounds, checking input: ((Value) -> (any CheckedInput)?)?,
    _ read: (inout JSONObject) throws -> Value
  ) throws -> Problem {
    let collected = JSONFaults()
    var faults: [FieldFault] = []
    do {
      var object = try JSONValue(parsing: bytes, nullIsAbsent: false, collecting: collected).object()
      let value = try read(&object)
      try object.finish()
      _ = try input?(value)?.checked(bounds)
    } catch JSONError.refused(let more) {
      // A member that even its stand-in did not satisfy.
      if collected.errors.isEmpty { collected.record(more) }
    } catch Refusal.invalid(let found) {
      faults = found
    }
    return Problem(collected.errors.isEmpty ? first : collected.errors, and: faults)
  }

  private static func invalid(_ errors: [FieldProblem]) -> Problem {
    let isUnknown = errors.allSatisfy { $0.code == "unknown_field" }
    return Problem(
      .badRequest, code: isUnknown ? "unknown_field" : "invalid", title: "The request is not valid.", errors: errors)
  }

  /// A URL to which the server sends no requests.
  static func notPublic(_ field: String) -> Problem {
    var problem = invalid([FieldProblem(FieldFault(field: field, code: .invalid))])
    problem.detail = "Only https:// URLs of public addresses on the ports of web servers are permitted."
    return problem
  }

  static var unauthenticated: Problem {
    // RFC 9110 §15.5.2: a 401 response names the authentication scheme.
    Problem(
      .unauthorized, code: "unauthenticated", title: "Sign in first.", fields: ["WWW-Authenticate": "Bearer"])
  }

  /// - Parameter limit: the size of the burst.
  static func rateLimited(_ limit: Int, seconds: Int) -> Problem {
    Problem(
      .tooManyRequests, code: "rate_limited", title: "Too many requests.",
      params: [("seconds", .number(seconds))],
      fields: [
        "Retry-After": "\(seconds)", "RateLimit-Limit": "\(limit)", "RateLimit-Remaining": "0",
        "RateLimit-Reset": "\(seconds)",
      ])
  }

  static let foreignOrigin = Problem(
    .forbidden, code: "forbidden", title: "A page of another origin may not do this.")

  /// The operator or the staff forbids the server to open addresses of others.
  static let previewsOff = Problem(
    .forbidden, code: "previews_off", title: "This server opens no addresses of others.")

  /// The operator forbids it, or the site has no public HTTPS URL.
  static let pushOff = Problem(.forbidden, code: "push_off", title: "This server sends no push messages.")

  /// The operator has set no mail server.
  static let mailOff = Problem(.forbidden, code: "mail_off", title: "This server sends no mail.")

  /// The address of the site has no host name.
  static let passkeysOff = Problem(
    .forbidden, code: "passkeys_off", title: "Passkeys need a site with a host name, not an IP address.")

  static let unsupportedMediaType = Problem(
    .unsupportedMediaType, code: "unsupported_media_type", title: "The body has to be JSON.",
    fields: ["Accept": "application/json"])
}

extension Problem.FieldProblem {
  init(_ error: JSONFieldError) {
    self.init(
      field: error.field, code: error.code,
      params: error.params.map { name, value in
        switch value {
        case .number(let number): (name, .number(number))
        case .text(let text): (name, .text(text))
        case .list(let texts): (name, .list(texts))
        }
      })
  }

  init(_ fault: FieldFault) {
    let params: [(name: String, value: Problem.Param)] =
      switch fault.code {
      case .missing, .unknownField, .invalid, .tooCommon, .taken, .unknown, .mismatch, .unreachable, .used, .noneLeft,
        .clockOff, .keyLost, .passkey:
        []
      case .notAllowed(let allowed): [("allowed", .list(allowed))]
      case .tooShort(let min): [("min", .number(min))]
      case .tooLong(let limit), .tooMany(let limit): [("limit", .number(limit))]
      case .outOfRange(let range): [("min", .number(range.lowerBound)), ("max", .number(range.upperBound))]
      }
    self.init(field: fault.field, code: fault.code.name, params: params)
  }
}
