import ParleyJSON
import ParleyModel

/// The browser's statement (WebAuthn §5.8.1), which the authenticator signs: the ceremony, the challenge and the page.
struct ClientData: Hashable, Sendable {
  let challenge: [UInt8]
  /// The digest of the bytes is signed, so they are kept.
  let bytes: [UInt8]

  /// Members of a later level are allowed (§5.8.1.2). The depth of the text is that of all JSON.
  init(_ bytes: [UInt8], of ceremony: Ceremony, at party: RelyingParty) throws(PasskeyFault) {
    guard bytes.count <= CBORReader.maxBytes else { throw .malformed }
    self.bytes = bytes
    let (type, challenge, origin, isCrossOrigin, topOrigin): (String, String, String, Bool, String?)
    do throws(JSONError) {
      var object = try JSONValue(parsing: bytes).object()
      type = try object.string("type")
      challenge = try object.string("challenge")
      origin = try object.string("origin")
      isCrossOrigin = try object.optional("crossOrigin") ?? false
      topOrigin = try object.optional("topOrigin")
    } catch {
      throw .malformed
    }
    guard type == ceremony.type else { throw .wrongType }
    guard let decoded = Base64URL.bytes(challenge) else { throw .malformed }
    self.challenge = decoded
    guard party.origins.contains(origin) else { throw .wrongOrigin }
    // A page in a frame of another site could hide its purpose (§13.4.2).
    guard !isCrossOrigin, topOrigin.map(party.origins.contains) ?? true else { throw .crossOrigin }
  }
}

/// The request to the browser.
enum Ceremony: Sendable {
  case registration, assertion

  var type: String {
    switch self {
    case .registration: "webauthn.create"
    case .assertion: "webauthn.get"
    }
  }
}
