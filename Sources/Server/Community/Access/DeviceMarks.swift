// The mark of a device on which a user signed in: a cookie that outlives the session. Wrong passwords and codes from the
// device are counted apart, so that guesses from elsewhere do not lock the user out. For codes the mark must be of a sign-in
// that has passed the present second factor: marks that cost only the password would multiply the guesses.

public import ParleyModel
import Storage

/// A mark is `<user>.<device>.<factor>.<signature>`. The factor is the time when the app that the sign-in has passed was
/// confirmed, or 0.
struct DeviceMark {
  static let purpose = "device"
  /// Longer input is not a mark.
  static let maxBytes = 200

  let device: String
  let factor: String

  static func claim(_ user: ID<User>, _ device: String, _ factor: String) -> String { "\(user).\(device).\(factor)" }
}

extension Community {
  /// Key for signing the marks of devices. It is derived from `secrets.key`: a stolen backup has no key to forge marks.
  var deviceKey: [UInt8]? { try? store.secrets.derivedKey(for: DeviceMark.purpose) }
}

extension CommunityView {
  /// A mark for the device of a sign-in.
  public func deviceMark(for opened: OpenedSession) throws(Refusal) -> String {
    let device = try Secret.make(byteCount: Secret.codeByteCount)
    guard let key = community.deviceKey else { throw .unavailable }
    let claim = DeviceMark.claim(opened.user.summary.id, device.text, "\(opened.secondFactor ?? 0)")
    return "\(claim).\(try TextSignature.make(DeviceMark.purpose, claim, key: key))"
  }

  /// The device of a mark, if it was given to the user with this sign-in name.
  public func device(markedBy mark: String, for name: String) throws(Refusal) -> String? {
    guard let user = try read({ tx throws(Refusal) in try tx.user(named: UserName.key(name)) }) else { return nil }
    let key = community.deviceKey
    return try read { tx throws(Refusal) in try tx.mark(mark, of: user, key: key)?.device }
  }

  /// The device of a mark, if it was given to the user for a sign-in with their present second factor.
  public func device(markedBy mark: String, withFactorOf user: ID<User>) throws(Refusal) -> String? {
    let key = community.deviceKey
    return try read { tx throws(Refusal) in
      guard let mark = try tx.mark(mark, of: user, key: key), let factor = try tx.totp(of: user)?.confirmedAt,
        mark.factor == "\(factor)"
      else { return nil }
      return mark.device
    }
  }
}

extension ReadTransaction {
  /// The mark, if it was given to the user.
  func mark(_ text: String, of user: ID<User>, key: [UInt8]?) throws(Refusal) -> DeviceMark? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard text.utf8.count <= DeviceMark.maxBytes, parts.count == 4, ID<User>(parts[0]) == user,
      let key,
      try TextSignature.isRight(
        parts[3], DeviceMark.purpose, DeviceMark.claim(user, parts[1], parts[2]), key: key)
    else { return nil }
    return DeviceMark(device: parts[1], factor: parts[2])
  }
}
