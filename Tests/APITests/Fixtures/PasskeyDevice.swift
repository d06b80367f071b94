import Foundation
import ParleyCrypto
import ParleyJSON
import ParleyModel
import ParleyWire
import TestSupport
import Testing

@testable import API

/// An authenticator at a village, and the requests of its user.
struct PasskeyDevice {
  let village: Village
  let name: String
  var authenticator: SoftwareAuthenticator
  /// The id of the passkey.
  var id = ""

  /// The host of the site, also over a socket, which has only an address.
  static let host: Fields = ["Host": "localhost"]
  static let origin = "http://localhost"

  /// - Parameter name: of the user.
  init(_ village: Village, for name: String, _ algorithm: Int = -7) throws {
    (self.village, self.name) = (village, name)
    authenticator = try SoftwareAuthenticator(.make(algorithm), at: Self.origin, host: "localhost")
    authenticator.userHandle = Array(village.id(name).utf8)
  }

  /// A registered one.
  static func registered(_ village: Village, for name: String, _ algorithm: Int = -7) async throws -> PasskeyDevice {
    var device = try PasskeyDevice(village, for: name, algorithm)
    let made = try await device.register()
    try #require(made.status == 201, "\(made.text)")
    device.id = try #require(made["id"])
    return device
  }

  func creationChallenge() async throws -> String {
    let options = try await village.request(.post, "/me/passkeys/options", as: name, fields: Self.host)
    return try #require(options["challenge"], "\(options.text)")
  }

  /// - Parameter challenge: nil for a new one.
  func register(_ challenge: String? = nil, named label: String = "Phone", as other: String? = nil) async throws
    -> Answer
  {
    let challenge = if let challenge { challenge } else { try await creationChallenge() }
    let answer = try authenticator.create(challenge)
    return try await village.request(
      .post, "/me/passkeys", as: other ?? name, ["name": label, "credential": Self.json(answer)], fields: Self.host)
  }

  func signInChallenge() async throws -> String {
    let options = try await village.request(.post, "/sessions/passkey/options", fields: Self.host)
    return try #require(options["challenge"], "\(options.text)")
  }

  /// - Parameter origin: of the page that sends the request.
  func signIn(
    _ challenge: String? = nil, _ more: [String: Any] = [:], from origin: String? = nil
  ) async throws -> Answer {
    var fields = Self.host
    if let origin { fields.add("Origin", origin) }
    let challenge = if let challenge { challenge } else { try await signInChallenge() }
    let body = ["credential": try Self.json(authenticator.get(challenge)), "device": "Laptop"] as [String: Any]
    return try await village.request(.post, "/sessions/passkey", body.merging(more) { $1 }, fields: fields)
  }

  func proofChallenge(as other: String? = nil) async throws -> String {
    let options = try await village.request(
      .post, "/sessions/current/proof/options", as: other ?? name, fields: Self.host)
    return try #require(options["challenge"], "\(options.text)")
  }

  func prove(_ challenge: String? = nil, as other: String? = nil) async throws -> Answer {
    let challenge = if let challenge { challenge } else { try await proofChallenge(as: other) }
    return try await village.request(
      .post, "/sessions/current/proof", as: other ?? name,
      ["credential": try Self.json(authenticator.get(challenge))], fields: Self.host)
  }

  private static func json(_ answer: some JSONWritable) throws -> Any {
    var json = JSONWriter()
    json.value(answer)
    return try JSONSerialization.jsonObject(with: Data(json.bytes))
  }
}

extension Answer {
  /// The status of a success, or the code of the field `credential`, or that of the problem.
  var outcome: String { status < 300 ? "\(status)" : self["errors.0.code"] ?? code ?? text }
}
