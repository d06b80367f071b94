import ParleyCrypto
import ParleyHTTPClient
import ParleyJSON
public import ParleyNetworking
public import ParleyWire

/// A certificate authority that speaks ACME (RFC 8555).
public struct CertificateAuthority: Sendable {
  public let directory: WebAddress
  private let trust: TLSConfiguration.Trust
  /// The address that the authority may write to.
  private let email: String?

  /// The longest time for the check of the names, and for the certificate.
  private static let patience = Duration.seconds(300)
  /// Seconds between two questions about a state, if the authority names none.
  private static let pollSeconds = 2
  private static let maxPollSeconds = 60

  public init(_ directory: WebAddress, trust: TLSConfiguration.Trust = .system, email: String? = nil) {
    self.directory = directory
    self.trust = trust
    self.email = email
  }

  /// Orders a certificate for these names.
  ///
  /// - Parameter publish: makes the answers of challenges available under `/.well-known/acme-challenge/`, by their tokens.
  /// - Returns: a new private key and the chain of its certificate, in PEM.
  public func certificate(
    for names: [String], account: ACMEKey, publish: @Sendable ([String: String]) -> Void
  ) async throws(ACMEFault) -> [UInt8] {
    let http: HTTPClient
    do throws(SystemError) { http = try HTTPClient(trust: trust) } catch { throw .failedCrypto("\(error)") }
    defer { http.close() }
    var client = ACMEClient(http, account)
    let directory = try ACMEDirectory(try await client.get(directory).body)
    client.newNonce = directory.newNonce
    try await signIn(at: directory.newAccount, &client)
    let created = try await client.post(Self.newOrder(names), to: directory.newOrder)
    let order = try ACMEOrder(created.body)
    guard let url = WebAddress(try Self.location(created)) else { throw .invalidResponse("the order has no URL") }

    try await prove(order, account, names, publish, &client)
    guard try await wait(for: url, until: .ready, "the check of the names", &client).status == .ready else {
      throw .invalidResponse("the order was finalized before")
    }
    let request: CertificateRequest
    do throws(CryptoError) { request = try CertificateRequest(names) } catch { throw .failedCrypto("\(error)") }
    try await finalize(order, request, &client)
    let issued = try await wait(for: url, until: .valid, "the certificate", &client)
    guard let certificate = issued.certificate else { throw .invalidResponse("the order has no certificate") }
    return Array(request.key.utf8) + (try await client.post(nil, to: certificate).body)
  }

  /// Makes an account, or finds that of the key. Its contact follows the settings.
  private func signIn(at url: WebAddress, _ client: inout ACMEClient) async throws(ACMEFault) {
    let reply = try await client.post(newAccount, to: url)
    let account = try Self.location(reply)
    client.account = account
    guard !reply.isCreated, let email, let address = WebAddress(account) else { return }
    var json = JSONWriter()
    json.object { json in json.array("contact") { json in json.value("mailto:\(email)") } }
    _ = try await client.post(json.bytes, to: address)
  }

  private func finalize(
    _ order: ACMEOrder, _ request: CertificateRequest, _ client: inout ACMEClient
  ) async throws(ACMEFault) {
    var body = JSONWriter()
    body.object { json in json.field("csr", Base64.encode(request.bytes, .url)) }
    do throws(ACMEFault) {
      _ = try await client.post(body.bytes, to: order.finalize)
    } catch {
      // The authority may have taken the request: its response was lost, or a repetition found the order further on.
      switch error {
      case .unreachable(let reason) where !reason.isBeforeSending: return
      case .refused(let problem, _) where problem.type == "orderNotReady": return
      case .unreachable, .refused, .failedChallenge, .invalidResponse, .timedOut, .failedCrypto, .cancelled: throw error
      }
    }
  }

  private var newAccount: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.field("termsOfServiceAgreed", true)
      if let email { json.array("contact") { json in json.value("mailto:\(email)") } }
    }
    return json.bytes
  }

  private static func newOrder(_ names: [String]) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.array("identifiers") { json in
        for name in names {
          json.object { json in
            json.field("type", "dns")
            json.field("value", name)
          }
        }
      }
    }
    return json.bytes
  }

  private static func location(_ reply: ACMEClient.Reply) throws(ACMEFault) -> String {
    guard let location = reply.location else { throw .invalidResponse("the field Location is missing") }
    return location
  }

  /// Answers the challenges of all names that the authority has not checked lately.
  private func prove(
    _ order: ACMEOrder, _ account: ACMEKey, _ names: [String], _ publish: ([String: String]) -> Void,
    _ client: inout ACMEClient
  ) async throws(ACMEFault) {
    var answers: [String: String] = [:]
    var pending: [(url: WebAddress, challenge: ACMEAuthorization.Challenge)] = []
    for url in order.authorizations {
      let authorization = try ACMEAuthorization(try await client.post(nil, to: url).body)
      if authorization.status == .valid { continue }
      guard let challenge = authorization.challenge else {
        throw .invalidResponse("there is no challenge http-01 for \(authorization.name)")
      }
      answers[challenge.token] = account.keyAuthorization(challenge.token)
      pending.append((url, challenge))
    }
    publish(answers)
    defer { publish([:]) }
    for (_, challenge) in pending { _ = try await client.post(Array("{}".utf8), to: challenge.url) }
    let deadline = ContinuousClock.now + Self.patience
    for (url, _) in pending {
      while true {
        let reply = try await Self.poll(url, until: deadline, "the check of the names", &client)
        let authorization = try ACMEAuthorization(reply.body)
        if authorization.status == .valid { break }
        if authorization.status == .ended {
          guard let name = names.first(where: { $0 == authorization.name }) else {
            throw .invalidResponse("an authorization is for another name")
          }
          throw .failedChallenge(
            name: name, authorization.problem ?? ACMEProblem(type: "", detail: "no reason given"))
        }
        try await Self.pause(reply.retryAfter, until: deadline, "the check of the names")
      }
    }
  }

  private func wait(
    for url: WebAddress, until status: ACMEStatus, _ stage: String, _ client: inout ACMEClient
  ) async throws(ACMEFault) -> ACMEOrder {
    let deadline = ContinuousClock.now + Self.patience
    while true {
      let reply = try await Self.poll(url, until: deadline, stage, &client)
      let order = try ACMEOrder(reply.body)
      if order.status == status || order.status == .valid { return order }
      if order.status == .ended {
        throw .refused(order.problem ?? ACMEProblem(type: "", detail: "the order is invalid"), retryAfter: nil)
      }
      try await Self.pause(reply.retryAfter, until: deadline, stage)
    }
  }

  /// Reads a state. A lost response or a busy authority does not end the order.
  private static func poll(
    _ url: WebAddress, until deadline: ContinuousClock.Instant, _ stage: String, _ client: inout ACMEClient
  ) async throws(ACMEFault) -> ACMEClient.Reply {
    while true {
      do throws(ACMEFault) {
        return try await client.post(nil, to: url)
      } catch {
        guard error.isTransient else { throw error }
        do throws(ACMEFault) { try await pause(error.retryAfter, until: deadline, stage) } catch .timedOut(_) {
          throw error
        }
      }
    }
  }

  private static func pause(
    _ retryAfter: Int?, until deadline: ContinuousClock.Instant, _ stage: String
  ) async throws(ACMEFault) {
    let seconds = min(max(retryAfter ?? pollSeconds, 1), maxPollSeconds)
    guard ContinuousClock.now + .seconds(seconds) < deadline else { throw .timedOut(stage) }
    do { try await Task.sleep(for: .seconds(seconds)) } catch { throw .cancelled }
  }
}
