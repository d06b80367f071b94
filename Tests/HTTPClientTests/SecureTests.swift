import Foundation
import ParleyHTTPClient
import ParleyNetworking
import ParleyWire
import Testing

private struct Identity: Sendable {
  let own: SelfSigned
  let fingerprint: [UInt8]

  init(_ names: [String]) throws {
    own = try SelfSigned(names: names)
    fingerprint = try #require(Certificate.list(fromPEM: own.certificate).first?.fingerprint)
  }

  var server: TLSConfiguration {
    TLSConfiguration(
      role: .server(.init(certificates: own.certificate, key: own.key, ticketKeys: .init(repeating: 7, count: 80))))
  }
}

private let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

private func destination(_ name: String, _ server: Scripted) throws -> Destination {
  let address = try #require(WebAddress("https://\(name):\(server.address.port ?? 0)"))
  return try #require(Destination(address, at: [server.address]))
}

@Test func `only the pinned certificate is trusted, with any name`() async throws {
  let identity = try Identity(["somewhere.example"])
  let other = try Identity(["chat.example"])
  try await Scripted.run(tls: identity.server, { _, _ in [.say(answer)] }) { server in
    let to = try destination("chat.example", server)
    let client = try HTTPClient(trust: .fingerprint(identity.fingerprint))
    for _ in 0..<2 {
      let got = try await client.send(ClientRequest("/"), to: to)
      #expect(try await got.body() == Array("hello".utf8))
    }
    #expect(server.count == 1)
    await #expect(throws: ClientError.untrusted("the certificate is not the pinned one")) {
      try await HTTPClient(trust: .fingerprint(other.fingerprint)).send(ClientRequest("/"), to: to)
    }
    #expect(server.requests.withLock { $0.count } == 2)
  }
}

/// OpenSSL's environment variable sets the roots of the process, so this is one test.
@Test func `with system roots a certificate must be signed and match the name`() async throws {
  let identity = try Identity(["chat.example", "127.0.0.1"])
  try await Scripted.run(tls: identity.server, { _, _ in [.say(answer)] }) { server in
    func isTrusted(_ name: String) async throws -> Bool {
      do {
        return try await HTTPClient().send(ClientRequest("/"), to: try destination(name, server)).status == 200
      } catch let failure as ClientError {
        guard case .untrusted = failure else { throw failure }
        return false
      }
    }
    #expect(try await !isTrusted("chat.example"))

    let path = NSTemporaryDirectory() + "parley-roots-\(UUID()).pem"
    try Data(identity.own.certificate).write(to: URL(filePath: path))
    setenv("SSL_CERT_FILE", path, 1)
    defer {
      unsetenv("SSL_CERT_FILE")
      unlink(path)
    }
    #expect(try await isTrusted("chat.example"))
    // The IP address matches the certificate only if the request used the IP address.
    #expect(try await isTrusted("127.0.0.1"))
    #expect(try await !isTrusted("evil.example"))
    #expect(try await !isTrusted("127.0.0.2"))
  }
}

@Test func `a server without TLS is refused`() async throws {
  try await Scripted.run({ _, _ in [.say(answer)] }) { server in
    let to = try destination("chat.example", server)
    var configuration = ClientConfiguration()
    configuration.connectTimeout = 1
    let client = try HTTPClient(configuration: configuration)
    do throws(ClientError) {
      _ = try await client.send(ClientRequest("/"), to: to)
      Issue.record("it is believed")
    } catch {
      #expect(error.isBeforeSending, "\(error)")
    }
  }
}
