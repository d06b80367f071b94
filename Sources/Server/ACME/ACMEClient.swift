import ParleyHTTPClient
import ParleyNetworking
import ParleyWire

/// Signed requests to a certificate authority (RFC 8555 §6).
struct ACMEClient {
  private let http: HTTPClient
  private let key: ACMEKey
  /// The URL of the account, once it is known.
  var account: String?
  /// The URL for a new nonce, from the directory.
  var newNonce: WebAddress?
  /// An unused nonce of the last response.
  private var nonce: String?

  /// The largest response: a chain of certificates has some 5 KB.
  private static let maxBody = 262_144
  private static let timeout = Duration.seconds(30)
  /// RFC 8555 §6.5 has no limit. An authority of tests refuses nine nonces of ten.
  private static let maxNonces = 128
  private static let maxNonceBytes = 1_024

  init(_ http: HTTPClient, _ key: ACMEKey) {
    self.http = http
    self.key = key
  }

  struct Reply {
    let body: [UInt8]
    /// The field Location.
    let location: String?
    /// Seconds.
    let retryAfter: Int?
    /// Whether the request has made the object.
    let isCreated: Bool
  }

  mutating func get(_ url: WebAddress) async throws(ACMEFault) -> Reply {
    let (status, fields, body) = try await send(.get, to: url)
    return try Self.reply(status, fields, body)
  }

  /// - Parameter payload: nil for a POST-as-GET (RFC 8555 §6.3).
  mutating func post(_ payload: [UInt8]?, to url: WebAddress) async throws(ACMEFault) -> Reply {
    var attempts = 0
    while true {
      attempts += 1
      let body: [UInt8]
      do {
        body = try key.sign(payload, to: url.description, nonce: try await takeNonce(), account: account)
      } catch let fault as ACMEFault {
        throw fault
      } catch {
        throw .failedCrypto("\(error)")
      }
      let (status, fields, answer) = try await send(.post, to: url, body)
      do throws(ACMEFault) {
        return try Self.reply(status, fields, answer)
      } catch {
        // The refusal has a nonce for the repetition.
        if case .refused(let problem, _) = error, problem.type == "badNonce", attempts < Self.maxNonces { continue }
        throw error
      }
    }
  }

  private mutating func takeNonce() async throws(ACMEFault) -> String {
    if let nonce {
      self.nonce = nil
      return nonce
    }
    guard let newNonce else { throw .invalidResponse("there is no URL for a nonce") }
    _ = try await send(.head, to: newNonce)
    guard let nonce else { throw .invalidResponse("there is no nonce") }
    self.nonce = nil
    return nonce
  }

  private mutating func send(
    _ method: ParleyWire.Method, to url: WebAddress, _ body: [UInt8]? = nil
  ) async throws(ACMEFault) -> (Int, Fields, [UInt8]) {
    guard url.scheme == .https, let destination = Destination(url) else {
      throw .invalidResponse("the URL \(url) has no https")
    }
    var fields: Fields = ["User-Agent": "Parley"]
    if body != nil { fields.add("Content-Type", "application/jose+json") }
    var request = ClientRequest(
      method, url.target, fields, body: body.map { .bytes($0) } ?? .none, maxResponseBytes: Self.maxBody,
      timeout: Self.timeout)
    // A repetition with a used nonce is refused.
    request.isRepeatable = true
    do throws(ClientError) {
      let response = try await http.send(request, to: destination)
      let answer = try await response.body()
      if let text = response.fields["replay-nonce"], 1...Self.maxNonceBytes ~= text.utf8.count { nonce = text }
      return (Int(response.status.code), response.fields, answer)
    } catch {
      throw error == .cancelled ? .cancelled : .unreachable(error)
    }
  }

  private static func reply(_ status: Int, _ fields: Fields, _ body: [UInt8]) throws(ACMEFault) -> Reply {
    let seconds = fields.retryAfter(at: Int(Clock.wall() / 1_000_000_000))
    guard 200..<300 ~= status else {
      throw .refused(ACMEProblem(body, status: status), retryAfter: seconds)
    }
    return Reply(body: body, location: fields["location"], retryAfter: seconds, isCreated: status == 201)
  }
}
