import ParleyNetworking
import ParleyWire
import Serving
import Testing
import Web

@testable import ParleyHTTPClient

/// Servers without a valid certificate are refused.
@Suite struct UntrustedTLSTests {
  @Test func `a certificate must be trusted and match the name`() async throws {
    Signals.ignoreBrokenPipes()
    let identity = try SelfSigned(names: ["rose.example"])
    let socket = try ListeningSocket(binding: .ipv4(0x7f00_0001, port: 0))
    let port = Int(socket.address.port ?? 0)
    let router = Router { routes in
      routes.on(.get, "/") { _, _ in Response(.ok, Array("rose".utf8), type: .html) }
    }
    let tickets = [UInt8](repeating: 7, count: TLSConfiguration.Identity.ticketKeyLength)
    let tls = TLSConfiguration(
      role: .server(.init(certificates: identity.certificate, key: identity.key, ticketKeys: tickets)))
    let server = try Server(
      .init(endpoints: [.init(socket, tls: tls)], loops: 1), application: Application(router: router), log: { _ in })
    try await server.start()
    let other = try SelfSigned(names: ["rose.example"])
    var limits = UntrustedLimits()
    limits.timeout = 100_000
    for (trust, name, isTrusted) in [
      (.roots(identity.certificate), "rose.example", true), (.roots(identity.certificate), "thorn.example", false),
      (.roots(identity.certificate), "127.0.0.1", false), (.roots(other.certificate), "rose.example", false),
      (.system, "rose.example", false),
    ] as [(TLSConfiguration.Trust, String, Bool)] {
      let client = try UntrustedClient(
        .alsoAllowing([(try #require(IPAddress("127.0.0.1")), port)]), limits: limits, trust: trust,
        resolve: { _, port, _ in [.ipv4(0x7f00_0001, port: port)] })
      do throws(UntrustedFault) {
        let answer = try await client.fetch("https://\(name):\(port)/", .anything)
        #expect(isTrusted && answer.body == Array("rose".utf8), "\(name)")
      } catch {
        #expect(!isTrusted && error == .unreachable, "\(name)")
      }
      client.close()
    }
    #expect(await server.stop(within: 100))
  }
}
