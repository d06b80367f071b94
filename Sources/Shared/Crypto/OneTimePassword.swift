/// Time-based one-time passwords (RFC 6238) as authenticator apps compute them: HMAC-SHA-1, steps of 30 s.
public enum OneTimePassword {
  public static let digits = 6
  /// Seconds.
  public static let period = 30
  /// 160 bits, as RFC 4226 §4 recommends.
  public static let secretBytes = 20

  /// The step of a time in milliseconds since 1970.
  public static func step(at milliseconds: Int64) -> Int { Int(milliseconds) / (period * 1_000) }

  /// The code of a step, with leading zeros (RFC 4226 §5.3).
  public static func code(_ secret: [UInt8], step: Int, digits: Int = digits) throws(CryptoError) -> String {
    let counter = (0..<8).map { UInt8(truncatingIfNeeded: step >> (56 - $0 * 8)) }
    let mac = try HMAC.sha1(of: counter, key: secret)
    let offset = Int(mac[mac.count - 1] & 15)
    let number = mac[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } & 0x7fff_ffff
    let modulus = (0..<digits).reduce(1) { value, _ in value * 10 }
    let text = String(number % modulus)
    return String(repeating: "0", count: digits - text.count) + text
  }

  /// The step of a code, if it is among these.
  public static func step(
    of code: String, _ secret: [UInt8], among steps: some Sequence<Int>
  ) throws(CryptoError) -> Int? {
    let given = Array(code.utf8)
    var found: Int?
    // All steps are compared, so that the time does not depend on the result.
    for step in steps where try ConstantTime.isEqual(given, Array(self.code(secret, step: step).utf8)) {
      found = found ?? step
    }
    return found
  }
}
