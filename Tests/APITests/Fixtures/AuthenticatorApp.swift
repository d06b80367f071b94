import ParleyCrypto
import ParleyWire
import Testing

@testable import API

/// An authenticator app, and the sign-ins of its user.
struct AuthenticatorApp {
  let village: Village
  let clock: StoppedClock
  let name: String
  let secret: [UInt8]
  let recoveryCodes: [String]

  /// Sets the app up for a user.
  init(_ village: Village, _ clock: StoppedClock, for name: String, _ more: [String: Any] = [:]) async throws {
    let setup = try await village.request(.post, "/me/second-factor", as: name)
    try #require(setup.status == 201, "\(setup.text)")
    let text = try #require(setup["secret"])
    secret = try #require(Base32.bytes(text))
    (self.village, self.clock, self.name) = (village, clock, name)
    let code = try OneTimePassword.code(secret, step: OneTimePassword.step(at: clock.read()))
    let enabled = try await village.request(
      .put, "/me/second-factor", as: name, ["code": code].merging(more) { $1 })
    try #require(enabled.status == 200, "\(enabled.text)")
    recoveryCodes = enabled.list("recovery_codes")
  }

  /// The code of the present step, or of one before or after.
  func code(_ offset: Int = 0) throws -> String {
    try OneTimePassword.code(secret, step: OneTimePassword.step(at: clock.read()) + offset)
  }

  /// The challenge for the right password.
  func challenge() async throws -> String {
    let answer = try await village.request(
      .post, "/sessions", ["name": name, "password": "\(name)’s password"])
    #expect(answer.status == 403 && answer.code == "second_factor_required" && !answer.has("token"))
    return try #require(answer["params.challenge"])
  }

  /// - Parameter cookie: of the device.
  func confirm(_ code: String, _ challenge: String? = nil, cookie: String? = nil) async throws -> Answer {
    let proof = if let challenge { challenge } else { try await self.challenge() }
    var fields = Fields()
    if let cookie { fields.add("Cookie", cookie) }
    return try await village.request(
      .post, "/sessions/second-factor", ["challenge": proof, "code": code, "device": "Laptop"], fields: fields)
  }

  /// The cookie of a browser on which the user has passed both steps.
  func deviceCookie(with code: String) async throws -> String {
    let body: [String: Any] = ["challenge": try await challenge(), "code": code, "cookie": true]
    let answer = try await village.request(
      .post, "/sessions/second-factor", body, fields: ["Origin": village.origin])
    let cookie = answer.fields.all("set-cookie").first { $0.hasPrefix("parley-device=") }
    return String(try #require(cookie, "\(answer.text)").prefix { $0 != ";" })
  }

  /// 201, or the code of the field `code`.
  func result(_ code: String) async throws -> String {
    let answer = try await confirm(code)
    return answer.status == 201 ? "201" : answer["errors.0.code"] ?? answer.text
  }

  func nextStep() { clock.add(30_000) }
}
