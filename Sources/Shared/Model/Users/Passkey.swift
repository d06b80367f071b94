public import ParleyJSON

/// A key of an authenticator, such as a phone, that signs its user in without the password.
public struct Passkey: Sendable, Hashable {
  /// Maximum number of passkeys of a user.
  public static let maxCount = 20

  /// The id of the passkey on this site, which is not the id of its credential.
  public var id: ID<Passkey>
  /// The name that the user gave, or that of the browser; at most 100 characters.
  public var name: String
  /// The host that it is for; another one when the site had another address.
  public var host: String
  /// Whether the authenticator has copied it to other devices of the user.
  public var isBackedUp: Bool
  /// Milliseconds since 1970.
  public var createdAt: Int64
  /// The last sign-in or proof with the passkey, in milliseconds since 1970; nil before the first one.
  public var lastUsedAt: Int64?

  /// A registered passkey, as the server lists it.
  public init(
    id: ID<Passkey>, name: String, host: String, isBackedUp: Bool, createdAt: Int64, lastUsedAt: Int64? = nil
  ) {
    self.id = id
    self.name = name
    self.host = host
    self.isBackedUp = isBackedUp
    self.createdAt = createdAt
    self.lastUsedAt = lastUsedAt
  }
}

extension Passkey: JSONMembers {
  /// Decodes a passkey from the members of its JSON object.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let createdAt: Timestamp = try object.read("created_at")
    let lastUsedAt: Timestamp? = try object.optional("last_used_at")
    self.init(
      id: try object.read("id"), name: try object.string("name"), host: try object.string("host"),
      isBackedUp: try object.bool("backed_up"), createdAt: Int64(createdAt.milliseconds),
      lastUsedAt: lastUsedAt.map { Int64($0.milliseconds) })
  }

  /// Encodes the members of a passkey.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("name", name)
    json.field("host", host)
    json.field("backed_up", isBackedUp)
    json.field("created_at", Timestamp(createdAt))
    json.field("last_used_at", lastUsedAt.map { Timestamp($0) })
  }
}

/// A check of a passkey's answer that failed. The raw value is the code of the field.
public enum PasskeyFault: String, Error, Sendable, Hashable, CaseIterable {
  /// Unreadable: JSON, CBOR, Base64 or the authenticator's data.
  case malformed = "passkey_malformed"
  /// The answer is of another ceremony.
  case wrongType = "passkey_wrong_type"
  /// The challenge is not of this server, or it was given for another purpose or session.
  case challengeUnknown = "passkey_challenge_unknown"
  /// The challenge is too old.
  case challengeExpired = "passkey_challenge_expired"
  /// The challenge was used before.
  case challengeUsed = "passkey_challenge_used"
  /// The page is not of this site.
  case wrongOrigin = "passkey_wrong_origin"
  /// The page is in a frame of another site.
  case crossOrigin = "passkey_cross_origin"
  /// The passkey is for another host.
  case wrongSite = "passkey_wrong_site"
  /// The authenticator did not see the user.
  case userAbsent = "passkey_user_absent"
  /// The authenticator did not verify the user, by a fingerprint, say.
  case notVerified = "passkey_not_verified"
  /// The state of the backup contradicts itself or that of the registration.
  case backupState = "passkey_backup_state"
  /// The key is of an algorithm that was not offered.
  case algorithm = "passkey_algorithm"
  /// The key is off the curve, too short or malformed.
  case key = "passkey_key"
  /// The id of the credential is too long.
  case idTooLong = "passkey_id_too_long"
  /// The passkey is registered already.
  case taken = "passkey_taken"
  /// The passkey is not registered, or it is another user's.
  case unknown = "passkey_unknown"
  /// The authenticator names another user.
  case otherUser = "passkey_other_user"
  /// The signature is wrong.
  case signature = "passkey_signature"
  /// The counter did not rise: there may be a copy of the authenticator.
  case counter = "passkey_counter"
}

/// Names a passkey in options. The JSON of this type and of the next ones is that of WebAuthn level 3 §5.1, so a browser takes
/// and gives it unchanged.
public struct PasskeyDescriptor: Sendable, Hashable {
  /// Base64 for URLs.
  public var id: String
  /// Connections to the authenticator, such as `internal` or `usb`.
  public var transports: [String]

  /// A registered credential for the options of a browser.
  public init(id: String, transports: [String]) {
    self.id = id
    self.transports = transports
  }
}

extension PasskeyDescriptor: JSONMembers {
  /// Decodes the members of `PublicKeyCredentialDescriptor`.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(id: try object.string("id"), transports: try object.optional("transports") ?? [])
  }

  /// Encodes the members of `PublicKeyCredentialDescriptor`, with the type `public-key`.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("type", PublicKeyCredential.type)
    json.field("id", id)
    json.field("transports", transports)
  }
}

private enum PublicKeyCredential {
  static let type = "public-key"
}

/// The input of a browser for a new passkey: `PublicKeyCredentialCreationOptionsJSON`.
public struct PasskeyCreationOptions: Sendable, Hashable {
  /// Base64 for URLs.
  public var challenge: String
  /// The host that the passkey will be for.
  public var host: String
  /// The name of the site, for the dialog of the browser.
  public var siteName: String
  /// Base64 for URLs.
  public var userHandle: String
  /// The name of the user, for the dialog of the browser.
  public var userName: String
  /// The display name of the user, or else the name.
  public var displayName: String
  /// Numbers of COSE (RFC 9053), the preferred one first.
  public var algorithms: [Int]
  /// The passkeys that the user has. Their authenticators make no second one.
  public var excluded: [PasskeyDescriptor]
  /// In milliseconds.
  public var timeout: Int

  /// The options that the server makes for a new passkey, with a challenge that is valid once.
  public init(
    challenge: String, host: String, siteName: String, userHandle: String, userName: String, displayName: String,
    algorithms: [Int], excluded: [PasskeyDescriptor], timeout: Int
  ) {
    (self.challenge, self.host, self.siteName) = (challenge, host, siteName)
    (self.userHandle, self.userName, self.displayName) = (userHandle, userName, displayName)
    (self.algorithms, self.excluded, self.timeout) = (algorithms, excluded, timeout)
  }
}

extension PasskeyCreationOptions: JSONMembers {
  /// Decodes the members of `PublicKeyCredentialCreationOptionsJSON`.
  public init(_ object: inout JSONObject) throws(JSONError) {
    var party = try object.object("rp")
    var user = try object.object("user")
    self.init(
      challenge: try object.string("challenge"), host: try party.string("id"), siteName: try party.string("name"),
      userHandle: try user.string("id"), userName: try user.string("name"), displayName: try user.string("displayName"),
      algorithms: try object.value("pubKeyCredParams").array { value throws(JSONError) in
        var parameters = try value.object()
        return try parameters.int("alg")
      }, excluded: try object.optional("excludeCredentials") ?? [],
      timeout: try object.int("timeout", in: 0...Int.max))
  }

  /// Encodes the members of `PublicKeyCredentialCreationOptionsJSON`; verification of the user is required.
  public func writeMembers(to json: inout JSONWriter) {
    json.object("rp") { json in
      json.field("id", host)
      json.field("name", siteName)
    }
    json.object("user") { json in
      json.field("id", userHandle)
      json.field("name", userName)
      json.field("displayName", displayName)
    }
    json.field("challenge", challenge)
    json.array("pubKeyCredParams") { json in
      for algorithm in algorithms {
        json.object { json in
          json.field("type", PublicKeyCredential.type)
          json.field("alg", algorithm)
        }
      }
    }
    json.field("timeout", timeout)
    json.field("excludeCredentials", excluded)
    json.object("authenticatorSelection") { json in
      json.field("residentKey", "required")
      json.field("requireResidentKey", true)
      json.field("userVerification", "required")
    }
    json.field("attestation", "none")
  }
}

/// The input of a browser for the use of a passkey: `PublicKeyCredentialRequestOptionsJSON`.
public struct PasskeyRequestOptions: Sendable, Hashable {
  /// Base64 for URLs.
  public var challenge: String
  /// The host that the passkey is for.
  public var host: String
  /// Empty for a sign-in, in which the authenticator offers the passkeys that it has for the site.
  public var allowed: [PasskeyDescriptor]
  /// In milliseconds.
  public var timeout: Int

  /// The options that the server makes for a sign-in or a proof, with a challenge that is valid once.
  public init(challenge: String, host: String, allowed: [PasskeyDescriptor], timeout: Int) {
    (self.challenge, self.host, self.allowed, self.timeout) = (challenge, host, allowed, timeout)
  }
}

extension PasskeyRequestOptions: JSONMembers {
  /// Decodes the members of `PublicKeyCredentialRequestOptionsJSON`.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      challenge: try object.string("challenge"), host: try object.string("rpId"),
      allowed: try object.optional("allowCredentials") ?? [], timeout: try object.int("timeout", in: 0...Int.max))
  }

  /// Encodes the members of `PublicKeyCredentialRequestOptionsJSON`; verification of the user is required.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("challenge", challenge)
    json.field("rpId", host)
    json.field("allowCredentials", allowed)
    json.field("timeout", timeout)
    json.field("userVerification", "required")
  }
}

/// The browser's answer to `PasskeyCreationOptions`: the members of `RegistrationResponseJSON` that count. All texts but the transports
/// are Base64 for URLs.
public struct PasskeyRegistration: Sendable, Hashable {
  /// The id of the credential.
  public var id: String
  /// The browser's JSON with the type, the challenge and the origin.
  public var clientData: String
  /// The attestation object (CBOR) with the public key.
  public var attestation: String
  /// Connections to the authenticator, such as `internal` or `usb`; empty if the browser names none.
  public var transports: [String]

  /// The members of a browser's credential that the server reads to register a passkey.
  public init(id: String, clientData: String, attestation: String, transports: [String] = []) {
    (self.id, self.clientData, self.attestation, self.transports) = (id, clientData, attestation, transports)
  }
}

extension PasskeyRegistration: JSONMembers {
  /// Decodes the members of `RegistrationResponseJSON`; the others are ignored.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let id = try object.string("id")
    var response = try object.object("response")
    self.init(
      id: id, clientData: try response.string("clientDataJSON"), attestation: try response.string("attestationObject"),
      transports: try response.optional("transports") ?? [])
  }

  /// Encodes the members of `RegistrationResponseJSON`.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("rawId", id)
    json.field("type", PublicKeyCredential.type)
    json.object("response") { json in
      json.field("clientDataJSON", clientData)
      json.field("attestationObject", attestation)
      json.field("transports", transports)
    }
    json.object("clientExtensionResults") { _ in }
  }
}

/// The browser's answer to `PasskeyRequestOptions`: the members of `AuthenticationResponseJSON` that count, as Base64 for URLs.
public struct PasskeyAssertion: Sendable, Hashable {
  /// The id of the credential.
  public var id: String
  /// The browser's JSON with the type, the challenge and the origin.
  public var clientData: String
  /// The authenticator's data: the digest of the host, flags and the counter.
  public var authenticatorData: String
  /// The signature by the key of the passkey.
  public var signature: String
  /// The id of the user; required for a sign-in, and nil if the authenticator gives none.
  public var userHandle: String?

  /// The members of a browser's credential that the server reads to check a passkey.
  public init(
    id: String, clientData: String, authenticatorData: String, signature: String, userHandle: String? = nil
  ) {
    (self.id, self.clientData, self.authenticatorData) = (id, clientData, authenticatorData)
    (self.signature, self.userHandle) = (signature, userHandle)
  }
}

extension PasskeyAssertion: JSONMembers {
  /// Decodes the members of `AuthenticationResponseJSON`; the others are ignored.
  public init(_ object: inout JSONObject) throws(JSONError) {
    let id = try object.string("id")
    var response = try object.object("response")
    // Some browsers write null.
    let handle = response.member("userHandle").flatMap { $0.isNull ? nil : $0 }
    self.init(
      id: id, clientData: try response.string("clientDataJSON"),
      authenticatorData: try response.string("authenticatorData"), signature: try response.string("signature"),
      userHandle: try handle?.string())
  }

  /// Encodes the members of `AuthenticationResponseJSON`.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("rawId", id)
    json.field("type", PublicKeyCredential.type)
    json.object("response") { json in
      json.field("clientDataJSON", clientData)
      json.field("authenticatorData", authenticatorData)
      json.field("signature", signature)
      if let userHandle { json.field("userHandle", userHandle) }
    }
    json.object("clientExtensionResults") { _ in }
  }
}

/// A new passkey, and its name; an empty one is replaced by that of the browser.
public struct PasskeyDraft: Sendable, Hashable {
  /// The name in the list of passkeys, at most 100 characters.
  public var name: String
  /// The answer of the browser to the creation options.
  public var credential: PasskeyRegistration

  /// Request to register a passkey.
  public init(name: String, credential: PasskeyRegistration) {
    self.name = name
    self.credential = credential
  }
}

extension PasskeyDraft: JSONMembers {
  /// Decodes the body of the request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(name: try object.optional("name") ?? "", credential: try object.read("credential"))
  }

  /// Encodes the body of the request.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("name", name)
    json.field("credential", credential)
  }
}
