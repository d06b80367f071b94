import ParleyHTTPClient
import ParleyNetworking
import ParleyWire
import Testing

@Test(arguments: [
  ("https://Chat.example/a?b", "chat.example", "chat.example", 443, true),
  ("http://chat.example:8080", "chat.example", "chat.example:8080", 8080, false),
  ("https://[::1]:8443/", "::1", "[::1]:8443", 8443, true),
  ("ws://127.0.0.1", "127.0.0.1", "127.0.0.1", 80, false),
])
func `a destination has the names for the certificate and the Host field`(
  text: String, name: String, authority: String, port: Int, isSecure: Bool
) throws {
  let address = try #require(WebAddress(text))
  let destination = try #require(Destination(address))
  #expect(destination.name == name)
  #expect(destination.authority == authority)
  #expect(Int(destination.port) == port)
  #expect(destination.isSecure == isSecure)
  #expect(destination.addresses.isEmpty)
}
