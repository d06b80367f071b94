import ParleyJSON

/// The daemon's answer to `parley doctor`: the facts that only the daemon knows.
struct DoctorFacts: Equatable {
  var version = ""
  /// The origins of --public-url.
  var publicOrigins: [String] = []
  /// Whether the daemon speaks TLS itself.
  var isEncrypted = false
  var findings: [Finding] = []
}

extension DoctorFacts: JSONWritable {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("version", version)
      json.array("public_urls") { json in for origin in publicOrigins { json.value(origin) } }
      json.field("tls", isEncrypted)
      json.array("findings") { json in for finding in findings { json.value(finding) } }
    }
  }

  init(_ object: inout JSONObject) throws(JSONError) {
    version = try object.string("version")
    publicOrigins = try object.read("public_urls")
    isEncrypted = try object.bool("tls")
    findings = try object.read("findings")
  }
}

/// A request over the public address, as it arrived at the daemon.
struct Arrival: Equatable {
  /// The client's address, as the daemon believes it; nil over a Unix socket.
  var client: String?
  /// The other end of the connection.
  var peer: String?
  /// Whether the peer is a trusted proxy.
  var isTrusted = false
  /// Whether the field with the client's address is present: the one of --proxy-fields.
  var hasForwardedClient = false
  /// The bytes of the request's body.
  var bodyBytes = 0
}

extension Arrival: JSONWritable {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("client", client)
      json.field("peer", peer)
      json.field("trusted", isTrusted)
      json.field("forwarded_client", hasForwardedClient)
      json.field("body_bytes", bodyBytes)
    }
  }

  /// Nil for another text, such as the page of a proxy.
  init?(parsing bytes: [UInt8]) {
    do throws(JSONError) {
      var object = try JSONValue(parsing: bytes).object()
      try self.init(&object)
    } catch {
      return nil
    }
  }

  init(_ object: inout JSONObject) throws(JSONError) {
    client = try object.optional("client")
    peer = try object.optional("peer")
    isTrusted = try object.bool("trusted")
    hasForwardedClient = try object.bool("forwarded_client")
    bodyBytes = try object.int("body_bytes")
  }
}
