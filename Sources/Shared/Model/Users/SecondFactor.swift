public import ParleyJSON

/// The second factor of the caller's sign-in: codes of an authenticator app.
public struct SecondFactor: Sendable, Hashable {
  /// Nil if sign-in takes the password alone.
  public var enabledAt: Int64?
  /// The number of unused recovery codes, at most 10.
  public var recoveryCodesLeft: Int
  /// Whether the site requires one of this user.
  public var isRequired: Bool
  /// The time at which the requirement takes effect; from then on a user without it can change nothing else.
  public var dueAt: Int64?

  /// A requirement takes effect after seven days, in milliseconds.
  public static let grace: Int64 = 7 * 86_400_000

  /// Whether sign-in asks for a code after the password.
  public var isEnabled: Bool { enabledAt != nil }

  /// The state of two-step sign-in, as the server answers.
  public init(enabledAt: Int64?, recoveryCodesLeft: Int, isRequired: Bool, dueAt: Int64?) {
    self.enabledAt = enabledAt
    self.recoveryCodesLeft = recoveryCodesLeft
    self.isRequired = isRequired
    self.dueAt = dueAt
  }
}

extension SecondFactor: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("enabled", isEnabled)
      json.field("enabled_at", enabledAt.map { Timestamp($0) })
      json.field("recovery_codes_left", recoveryCodesLeft)
      json.field("required", isRequired)
      json.field("due_at", dueAt.map { Timestamp($0) })
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let enabledAt: Timestamp? = try object.optional("enabled_at")
    let dueAt: Timestamp? = try object.optional("due_at")
    self.init(
      enabledAt: enabledAt.map { Int64($0.milliseconds) },
      recoveryCodesLeft: try object.int("recovery_codes_left", in: 0...Int.max),
      isRequired: try object.read("required"), dueAt: dueAt.map { Int64($0.milliseconds) })
  }
}

/// The secret of an authenticator app, shown while it is set up.
public struct SecondFactorSetup: Sendable, Hashable {
  /// In base 32, for typing.
  public var secret: String
  /// The `otpauth:` address that a QR code holds.
  public var url: String

  /// A secret that the server has made, to confirm with a code of the app.
  public init(secret: String, url: String) {
    self.secret = secret
    self.url = url
  }
}

extension SecondFactorSetup: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("secret", secret)
      json.field("url", url)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(secret: try object.string("secret"), url: try object.string("url"))
  }
}

/// Codes that stand in for those of the app, each once. They are shown when they are made.
public struct RecoveryCodes: Sendable, Hashable {
  /// Ten codes, as the user types them.
  public var codes: [String]

  /// Recovery codes that the server has made, which replace the previous ones.
  public init(codes: [String]) { self.codes = codes }
}

extension RecoveryCodes: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) { json.object { json in json.field("recovery_codes", codes) } }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(codes: try object.read("recovery_codes"))
  }
}

/// The ways of a user to prove that a session is theirs.
public struct ProofMethods: Sendable, Hashable {
  /// Whether a password proves the session.
  public let hasPassword: Bool
  /// Whether the password needs a code besides.
  public let needsCode: Bool
  /// Whether a passkey proves the session.
  public let hasPasskey: Bool
  /// The URLs of OpenID providers with a linked account.
  public let issuers: [String]

  /// The methods that the server offers in the refusal `step_up_required`.
  public init(hasPassword: Bool, needsCode: Bool, hasPasskey: Bool, issuers: [String]) {
    self.hasPassword = hasPassword
    self.needsCode = needsCode
    self.hasPasskey = hasPasskey
    self.issuers = issuers
  }

  /// Their names in the API.
  public var names: [String] {
    (hasPassword ? [needsCode ? "password_and_code" : "password"] : []) + (hasPasskey ? ["passkey"] : [])
      + (issuers.isEmpty ? [] : ["issuer"])
  }
}
