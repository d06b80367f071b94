// Short words for the client of a request, for lists of sessions and sign-ins.

import Community
import ParleyJSON
import ParleyWire
package import Web

/// The program and the system of a `User-Agent` (RFC 9110 §10.1.5).
enum ClientProgram {
  static let maxBytes = 32

  /// Browsers by their token. Those that also claim to be another one are first.
  private static let browsers = [
    ("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("FxiOS", "Firefox"), ("CriOS", "Chrome"),
    ("Chrome", "Chrome"), ("Safari", "Safari"),
  ]
  private static let systems = [
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"), ("Linux", "Linux"),
  ]

  /// Such as `Firefox, Linux` or `curl`; empty if there is no field.
  static func words(_ field: String?) -> String {
    guard let field else { return "" }
    if let browser = browsers.first(where: { field.contains("\($0.0)/") }) {
      let system = systems.first { field.contains($0.0) }
      return [browser.1, system?.1].compactMap(\.self).joined(separator: ", ")
    }
    let name = field.utf8.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: " ") }.prefix(maxBytes)
    // A token has no controls (§5.6.2).
    guard name.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return "" }
    return String(decoding: name, as: UTF8.self)
  }
}

extension Context {
  /// The network of the client as text; nil over a Unix socket.
  package var networkText: String? { client.map(\.networkText) }
}

extension RequestContext {
  /// The origin of a sign-in.
  var origin: SignInOrigin {
    SignInOrigin(
      address: server.networkText, program: ClientProgram.words(request.fields["user-agent"]),
      deviceCookie: deviceCookie)
  }
}
