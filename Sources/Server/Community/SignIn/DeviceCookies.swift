// The cookie of a device on which a user signed in; it outlives the session. Wrong passwords and codes from the device are
// counted apart, so that guesses from elsewhere do not lock the user out. For codes the cookie must be of a sign-in that has
// passed the present second factor: cookies that cost only the password would multiply the guesses. A change of the password voids the
// cookies of earlier sign-ins, and so does a user who reports a foreign one: with a cookie, a thief would sign in without a notice of a
// new device.

public import ParleyModel
import Storage

/// A cookie is `<user>.<device>.<factor>.<id>.<signature>`. The factor is the time when the app that the sign-in has passed was
/// confirmed, or 0; the id is that of its session.
struct DeviceCookie {
  static let purpose = "device"
  /// Longer input is not a device cookie.
  static let maxBytes = 200

  let device: String
  let factor: String

  static func claim(_ user: ID<User>, _ device: String, _ factor: String, _ id: String) -> String {
    "\(user).\(device).\(factor).\(id)"
  }

  /// A new cookie.
  static func make(for user: ID<User>, factor: String, id: Int, key: [UInt8]?) throws(Refusal) -> String {
    let device = try Secret.make(byteCount: Secret.codeByteCount)
    guard let key else { throw .unavailable }
    let claim = Self.claim(user, device.text, factor, "\(id)")
    return "\(claim).\(try TextSignature.make(purpose, claim, key: key))"
  }
}

extension Community {
  /// Key for signing device cookies. It is derived from `secrets.key`: a stolen backup has no key to forge them.
  var deviceKey: [UInt8]? { try? store.secrets.derivedKey(for: DeviceCookie.purpose) }
}

extension CommunityView {
  /// A cookie for the device of a sign-in.
  public func deviceCookie(for opened: OpenedSession) throws(Refusal) -> String {
    try DeviceCookie.make(
      for: opened.user.summary.id, factor: "\(opened.secondFactor ?? 0)", id: opened.id.number, key: community.deviceKey
    )
  }

  /// The device of a cookie, if it was given to the user with this sign-in name.
  public func device(ofCookie text: String, for name: String) throws(Refusal) -> String? {
    guard let user = try read({ tx throws(Refusal) in try tx.user(named: UserName.key(name)) }) else { return nil }
    let key = community.deviceKey
    return try read { tx throws(Refusal) in try tx.deviceCookie(text, of: user, key: key)?.device }
  }

  /// The device of a cookie, if it was given to the user for a sign-in with their present second factor.
  public func device(ofCookie text: String, withFactorOf user: ID<User>) throws(Refusal) -> String? {
    let key = community.deviceKey
    return try read { tx throws(Refusal) in
      guard let cookie = try tx.deviceCookie(text, of: user, key: key), let factor = try tx.totp(of: user)?.confirmedAt,
        cookie.factor == "\(factor)"
      else { return nil }
      return cookie.device
    }
  }
}

extension ReadTransaction {
  /// The cookie, if it was given to the user since the last change of the password.
  func deviceCookie(_ text: String, of user: ID<User>, key: [UInt8]?) throws(Refusal) -> DeviceCookie? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard text.utf8.count <= DeviceCookie.maxBytes, parts.count == 5, ID<User>(parts[0]) == user,
      let key,
      try TextSignature.isRight(
        parts[4], DeviceCookie.purpose, DeviceCookie.claim(user, parts[1], parts[2], parts[3]), key: key),
      let id = Int(parts[3]), id >= (try firstDeviceID(of: user))
    else { return nil }
    return DeviceCookie(device: parts[1], factor: parts[2])
  }

  /// The next cookie of a device whose cookie has just lost its value; nil without one.
  func renewed(_ cookie: DeviceCookie?, of user: ID<User>, key: [UInt8]?) throws(Refusal) -> String? {
    guard let cookie else { return nil }
    return try DeviceCookie.make(for: user, factor: cookie.factor, id: try firstDeviceID(of: user), key: key)
  }
}
