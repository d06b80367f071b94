public import ParleyJSON

/// An attempt to sign in as a user, visible to the user.
public struct SignIn: Sendable, Hashable {
  /// The id of the entry in the list of sign-ins.
  public var id: ID<SignIn>
  /// The time of the attempt in milliseconds since 1970.
  public var createdAt: Int64
  /// The credential that the client sent.
  public var method: Method
  /// The success, or the check that failed.
  public var result: Outcome
  /// The name that the client gave, or its program and system in short words.
  public var device: String
  /// The network of the client, without the end of the address. Nil for a client without one.
  public var address: String?
  /// Whether the user had not signed in from this device before.
  public var isNewDevice: Bool
  /// The session that the sign-in opened. It may have ended.
  public var session: ID<Session>?

  /// Entries are kept for 90 days, in milliseconds.
  public static let retention: Int64 = 90 * 86_400_000
  /// Maximum number of kept sign-ins of a user, and of kept failed attempts. Strangers make these, so they are counted apart.
  public static let maxKept = 200

  /// Ways to sign in.
  public enum Method: String, Sendable, Hashable, CaseIterable {
    /// With name and password.
    case password
    /// Password and a code of the authenticator app.
    case appCode = "app_code"
    /// Password and a recovery code.
    case recoveryCode = "recovery_code"
    /// A link to set up the site or to reset the password.
    case link
    /// With a new account.
    case signUp = "sign_up"
    /// With a passkey.
    case passkey
    /// An account at an OpenID provider.
    case issuer
  }

  /// Results of an attempt to sign in.
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// A session was created.
    case signedIn = "signed_in"
    /// The password was wrong.
    case wrongPassword = "wrong_password"
    /// The right password, or a link, of a user with a second factor. The code has an entry of its own.
    case codeRequired = "code_required"
    /// A wrong code after the right password.
    case wrongCode = "wrong_code"
    /// A code that was used before, after the right password.
    case usedCode = "used_code"
    /// An answer of a passkey that failed a check.
    case wrongPasskey = "wrong_passkey"
    /// The right password, a passkey or a linked account, of a user who may not sign in.
    case refused
  }

  /// A sign-in or a failed attempt, as the server lists it.
  public init(
    id: ID<SignIn>, createdAt: Int64, method: Method, result: Outcome, device: String, address: String?,
    isNewDevice: Bool, session: ID<Session>?
  ) {
    self.id = id
    self.createdAt = createdAt
    self.method = method
    self.result = result
    self.device = device
    self.address = address
    self.isNewDevice = isNewDevice
    self.session = session
  }
}

extension SignIn: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("created_at", Timestamp(createdAt))
      json.field("method", method.rawValue)
      json.field("result", result.rawValue)
      json.field("device", device)
      json.field("address", address)
      json.field("new_device", isNewDevice)
      json.field("session_id", session)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), createdAt: Int64(createdAt.milliseconds), method: try object.word("method"),
      result: try object.word("result"), device: try object.string("device"), address: try object.optional("address"),
      isNewDevice: try object.read("new_device"), session: try object.optional("session_id"))
  }
}
