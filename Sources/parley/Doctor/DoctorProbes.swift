import ParleyCrypto
import ParleyJSON
import ParleyNetworking
import ParleyWire
import Synchronization
import Web

/// The addresses by which `parley doctor` looks at its own requests from the outside. Each has a secret code, from the
/// control socket, and is valid for two minutes. Other requests get 404.
final class DoctorProbes: Sendable {
  private struct Code {
    let text: String
    /// On the monotonic clock, in nanoseconds.
    let expires: Int64
  }

  private let addresses: Addresses
  private let codes = Mutex<[Code]>([])

  static let path = "/.well-known/parley-doctor/"
  private static let lifetime: Int64 = 120_000_000_000
  private static let maxCodes = 8
  private static let codeBytes = 16
  /// Size of the upload that the doctor tries.
  static let uploadBytes = 3 << 20

  init(_ addresses: Addresses) { self.addresses = addresses }

  /// Creates a code.
  func make() throws(CryptoError) -> String {
    let text = Hex.text(try SecureRandom.bytes(Self.codeBytes))
    let code = Code(text: text, expires: Clock.monotonic() + Self.lifetime)
    codes.withLock { codes in codes = codes.suffix(Self.maxCodes - 1) + [code] }
    return text
  }

  func add(to routes: inout Router.Builder) {
    for method in [ParleyWire.Method.get, .post] {
      routes.on(method, Self.path + "{code}", bodyLimit: Self.uploadBytes) { request, context throws(Problem) in
        guard self.isValid(request.parameters["code"] ?? "") else { throw .notFound }
        var count = 0
        if method == .post { count = try await request.body.collect().count }
        return self.response(request, context, count)
      }
    }
  }

  private func isValid(_ text: String) -> Bool {
    let now = Clock.monotonic()
    return codes.withLock { $0.contains { $0.text == text && $0.expires > now } }
  }

  private func response(_ request: Request, _ context: Context, _ count: Int) -> Response {
    let hasForwardedClient =
      switch addresses.proxyFields {
      case .xForwarded: request.fields.has("x-forwarded-for")
      case .forwarded: request.fields.has("forwarded")
      }
    var arrival = Arrival()
    arrival.client = context.client.map { "\($0)" }
    arrival.peer = context.peer.map { "\($0)" }
    arrival.isTrusted = addresses.trusts(context.peer)
    arrival.hasForwardedClient = hasForwardedClient
    arrival.bodyBytes = count
    var json = JSONWriter()
    json.value(arrival)
    var response = Response(.ok, json.bytes, type: .json)
    response.fields.add("Cache-Control", "no-store")
    return response
  }
}
