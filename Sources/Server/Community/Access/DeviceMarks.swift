// The mark of a device on which a user signed in: a cookie that outlives the session. Wrong passwords from the device are
// counted apart, so that guesses from elsewhere do not lock the user out.

import ParleyCrypto
public import ParleyModel
import Storage

/// A mark is `<user>.<device>.<signature>`.
private enum DeviceMark {
  /// Longer input is not a mark.
  static let maxBytes = 200

  static func signature(of claim: String, _ key: String) throws(Refusal) -> String {
    do { return Hex.text(try HMAC.sha256(of: Array("device \(claim)".utf8), key: Array(key.utf8))) } catch {
      throw .unavailable
    }
  }
}

extension CommunityView {
  /// A mark for the device on which `user` has signed in.
  public func deviceMark(for user: ID<User>) throws(Refusal) -> String {
    let device = try Secret.make(byteCount: Secret.codeByteCount)
    guard let key = try read({ tx throws(Refusal) in try tx.deviceKey() }) else { throw .unavailable }
    let claim = "\(user).\(device.text)"
    return "\(claim).\(try DeviceMark.signature(of: claim, key))"
  }

  /// The device of a mark, if it was given to the user with this sign-in name.
  public func device(markedBy mark: String, for name: String) throws(Refusal) -> String? {
    let parts = mark.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard mark.utf8.count <= DeviceMark.maxBytes, parts.count == 3, let user = ID<User>(parts[0]) else { return nil }
    return try read { tx throws(Refusal) in
      guard let key = try tx.deviceKey() else { return nil }
      let expected = try DeviceMark.signature(of: "\(parts[0]).\(parts[1])", key)
      guard ConstantTime.isEqual(Array(parts[2].utf8), Array(expected.utf8)),
        try tx.user(named: UserName.key(name)) == user
      else { return nil }
      return parts[1]
    }
  }
}
