import ParleyJSON
import ParleyModel
import Testing

/// The JSON of WebAuthn level 3 §5.1, as apps read the server's and the server reads the browser's.
@Suite struct PasskeyJSONTests {
  private func copy<Value: JSONReadable & JSONWritable>(_ value: Value) throws -> Value {
    var json = JSONWriter()
    json.value(value)
    return try Value(json: JSONValue(parsing: json.bytes))
  }

  @Test func `each value is read as it is written`() throws {
    for lastUsedAt: Int64? in [nil, 1_800_000_000_001] {
      let passkey = Passkey(
        id: ID(7), name: "Phone", host: "chat.example.org", isBackedUp: true, createdAt: 1_800_000_000_000,
        lastUsedAt: lastUsedAt)
      #expect(try copy(passkey) == passkey)
    }
    let descriptor = PasskeyDescriptor(id: "AQ", transports: ["internal", "hybrid"])
    let creation = PasskeyCreationOptions(
      challenge: "Ag", host: "chat.example.org", siteName: "Club", userHandle: "MQ", userName: "ada",
      displayName: "Ada", algorithms: [-8, -7], excluded: [descriptor], timeout: 300_000)
    #expect(try copy(creation) == creation)
    for allowed in [[], [descriptor]] {
      let request = PasskeyRequestOptions(challenge: "Ag", host: "chat.example.org", allowed: allowed, timeout: 1)
      #expect(try copy(request) == request)
    }
    let registration = PasskeyRegistration(id: "AQ", clientData: "Ag", attestation: "Aw", transports: ["usb"])
    #expect(try copy(registration) == registration)
    let draft = PasskeyDraft(name: "Phone", credential: registration)
    #expect(try copy(draft) == draft)
    for handle in ["MQ", nil] {
      let assertion = PasskeyAssertion(
        id: "AQ", clientData: "Ag", authenticatorData: "Aw", signature: "BA", userHandle: handle)
      #expect(try copy(assertion) == assertion)
    }
  }

  @Test func `members of browsers that do not count are ignored, and a null handle is none`() throws {
    let text = #"""
      {"id":"AQ","rawId":"AQ","type":"public-key","authenticatorAttachment":"platform","response":{"clientDataJSON":"Ag",
      "authenticatorData":"Aw","signature":"BA","userHandle":null,"later":{}},"clientExtensionResults":{"credProps":{}}}
      """#
    let read = try PasskeyAssertion(json: JSONValue(parsing: Array(text.utf8), nullIsAbsent: false))
    #expect(read == PasskeyAssertion(id: "AQ", clientData: "Ag", authenticatorData: "Aw", signature: "BA"))
  }

  @Test func `each failed check has a code of its own`() {
    let codes = PasskeyFault.allCases.map(\.rawValue)
    #expect(Set(codes).count == 19 && codes.allSatisfy { $0.hasPrefix("passkey_") })
    #expect(PasskeyFault.allCases.allSatisfy { FieldFault.Code.passkey($0).name == $0.rawValue })
  }
}
