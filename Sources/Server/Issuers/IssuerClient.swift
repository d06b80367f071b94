// Requests to the issuers that the operator has named: metadata, keys, codes. The host of an issuer may be a private one. An
// address of another host comes from a document, so it is checked as a link of a stranger is.

public import OIDC
public import ParleyHTTPClient
public import ParleyNetworking
import ParleyWire

public final class IssuerClient: Sendable {
  private let named: HTTPClient
  private let others: UntrustedClient
  /// Milliseconds of a monotonic clock.
  private let clock: @Sendable () -> Int64
  private let documents: [String: IssuerDocuments]

  /// From the name lookup to the last byte.
  static let timeout: Duration = .seconds(10)

  /// - Parameter trust: the root certificates.
  public init(
    _ issuers: [Issuer], trust: TLSConfiguration.Trust = .system, policy: UntrustedPolicy = .strict,
    clock: @escaping @Sendable () -> Int64
  ) throws(SystemError) {
    named = try HTTPClient(trust: trust)
    others = try UntrustedClient(policy, trust: trust)
    self.clock = clock
    documents = Dictionary(issuers.map { ($0.id, IssuerDocuments()) }) { one, _ in one }
  }

  public func close() {
    named.close()
    others.close()
  }

  public func metadata(of issuer: Issuer) async throws(OIDCFault) -> ProviderMetadata {
    guard let documents = documents[issuer.id] else { throw OIDCFault(.unreachable, "no issuer") }
    return try await documents.metadata.value(at: clock(), isEnough: { _ in true }) { [self] () throws(OIDCFault) in
      guard let address = WebAddress(issuer.metadataURL) else { throw OIDCFault(.metadata, issuer.metadataURL) }
      let bytes = try await document(address, of: issuer, maxBytes: ProviderMetadata.maxBytes)
      return try ProviderMetadata(bytes, of: issuer)
    }
  }

  /// Keys of the issuer, that of the token among them if the issuer has it.
  public func keys(of issuer: Issuer, for token: SignedToken) async throws(OIDCFault) -> KeySet {
    guard let documents = documents[issuer.id] else { throw OIDCFault(.unreachable, "no issuer") }
    let address = try await metadata(of: issuer).keysURL
    return try await documents.keys.value(at: clock(), isEnough: { $0.knowsKey(of: token) }) {
      [self] () throws(OIDCFault) in
      try KeySet(try await document(address, of: issuer, maxBytes: KeySet.maxBytes))
    }
  }

  /// Exchanges a code.
  public func idToken(
    of code: String, for request: SignInRequest, of issuer: Issuer
  ) async throws(OIDCFault) -> SignedToken {
    let metadata = try await metadata(of: issuer)
    let exchange = TokenExchange(
      of: code, verifier: request.verifier, redirectURI: request.redirectURI, for: issuer, at: metadata)
    let answer = try await send(
      .post, exchange.fields, .bytes(exchange.body), to: metadata.tokenEndpoint, of: issuer,
      maxBytes: TokenExchange.maxBytes)
    return try TokenExchange.idToken(status: answer.status, answer.body)
  }

  private func document(_ address: WebAddress, of issuer: Issuer, maxBytes: Int) async throws(OIDCFault) -> [UInt8] {
    let answer = try await send(
      .get, ["Accept": "application/json"], .none, to: address, of: issuer, maxBytes: maxBytes)
    // A redirect is no answer: it would lead to a host that the operator has not named.
    guard answer.status == 200 else { throw OIDCFault(.unreachable, "\(address): status \(answer.status)") }
    return answer.body
  }

  private func send(
    _ method: ParleyWire.Method, _ fields: Fields, _ body: ClientRequestBody, to address: WebAddress,
    of issuer: Issuer, maxBytes: Int
  ) async throws(OIDCFault) -> (status: Int, body: [UInt8]) {
    var fields = fields
    fields.add("User-Agent", "Parley")
    fields.add("Accept-Encoding", "identity")
    guard let home = WebAddress(issuer.url), home.origin == address.origin else {
      return try await sendElsewhere(method, fields, body, to: address, maxBytes: maxBytes)
    }
    guard let destination = Destination(address) else { throw OIDCFault(.unreachable, "\(address)") }
    let request = ClientRequest(
      method, address.target, fields, body: body, maxResponseBytes: maxBytes, timeout: Self.timeout)
    do throws(ClientError) {
      let answer = try await named.send(request, to: destination)
      return (status: answer.status.code, body: try await answer.body())
    } catch {
      throw OIDCFault(.unreachable, "\(address): \(error)")
    }
  }

  private func sendElsewhere(
    _ method: ParleyWire.Method, _ fields: Fields, _ body: ClientRequestBody, to address: WebAddress, maxBytes: Int
  ) async throws(OIDCFault) -> (status: Int, body: [UInt8]) {
    let reply: UntrustedReply
    do throws(UntrustedFault) {
      reply = try await others.send(method, body, fields, to: "\(address)", maxBytes: maxBytes, isRepeatable: false)
    } catch {
      throw OIDCFault(.unreachable, "\(address): \(error)")
    }
    guard reply.isComplete else { throw OIDCFault(.unreachable, "\(address): the response is too large or cut") }
    return (status: reply.status, body: reply.body)
  }
}
