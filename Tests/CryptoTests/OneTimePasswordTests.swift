import ParleyCrypto
import Testing

@Suite struct OneTimePasswordTests {
  private static let secret = Array("12345678901234567890".utf8)

  /// RFC 6238 appendix B, the rows of SHA-1.
  @Test(arguments: [
    (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"), (1_234_567_890, "89005924"),
    (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
  ])
  func `codes match the published vectors`(seconds: Int64, code: String) throws {
    let step = OneTimePassword.step(at: seconds * 1_000)
    #expect(try OneTimePassword.code(Self.secret, step: step, digits: 8) == code)
    #expect(try OneTimePassword.code(Self.secret, step: step) == String(code.suffix(6)))
  }

  /// RFC 4226 appendix D.
  @Test func `codes of counters match the published vectors`() throws {
    let codes = try (0..<10).map { try OneTimePassword.code(Self.secret, step: $0) }
    #expect(
      codes == [
        "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
      ])
  }

  @Test func `a code is found in its step alone`() throws {
    let code = try OneTimePassword.code(Self.secret, step: 7)
    #expect(try OneTimePassword.step(of: code, Self.secret, among: 6...8) == 7)
    #expect(try OneTimePassword.step(of: code, Self.secret, among: 8...10) == nil)
    #expect(try OneTimePassword.step(of: "", Self.secret, among: 6...8) == nil)
    #expect(try OneTimePassword.step(of: "\(code)0", Self.secret, among: 6...8) == nil)
  }
}
