import ParleyJSON
import ParleyWire

// The objects of RFC 8555 §7.1. Unknown members are ignored.

struct ACMEDirectory {
  let newNonce: WebAddress
  let newAccount: WebAddress
  let newOrder: WebAddress

  init(_ body: [UInt8]) throws(ACMEFault) {
    self = try Self.reading(body, "directory") { object throws(JSONError) in
      Self(
        newNonce: try object.address("newNonce"), newAccount: try object.address("newAccount"),
        newOrder: try object.address("newOrder"))
    }
  }

  private init(newNonce: WebAddress, newAccount: WebAddress, newOrder: WebAddress) {
    self.newNonce = newNonce
    self.newAccount = newAccount
    self.newOrder = newOrder
  }
}

/// The states of orders and authorizations (RFC 8555 §7.1.6) that matter here.
enum ACMEStatus {
  case pending
  /// An order of which all names are checked.
  case ready
  case valid
  /// Invalid, deactivated, expired or revoked.
  case ended

  init(_ text: String) {
    switch text {
    case "pending", "processing": self = .pending
    case "ready": self = .ready
    case "valid": self = .valid
    default: self = .ended
    }
  }
}

struct ACMEOrder {
  /// Names of one order; authorities take up to 100.
  static let maxNames = 100

  let status: ACMEStatus
  let authorizations: [WebAddress]
  let finalize: WebAddress
  let certificate: WebAddress?
  let problem: ACMEProblem?

  init(_ body: [UInt8]) throws(ACMEFault) {
    self = try Self.reading(body, "order") { object throws(JSONError) in
      let authorizations = try object.value("authorizations")
      return Self(
        status: ACMEStatus(try object.string("status")),
        authorizations: try authorizations.array().prefix(Self.maxNames).map { value throws(JSONError) in
          try value.address()
        },
        finalize: try object.address("finalize"),
        certificate: try object.optional("certificate") { value throws(JSONError) in try value.address() },
        problem: try object.optional("error", ACMEProblem.read))
    }
  }

  private init(
    status: ACMEStatus, authorizations: [WebAddress], finalize: WebAddress, certificate: WebAddress?,
    problem: ACMEProblem?
  ) {
    self.status = status
    self.authorizations = authorizations
    self.finalize = finalize
    self.certificate = certificate
    self.problem = problem
  }
}

struct ACMEAuthorization {
  struct Challenge {
    let url: WebAddress
    let token: String
  }

  let status: ACMEStatus
  let name: String
  /// The challenge `http-01` (RFC 8555 §8.3); nil if the authority offers none.
  let challenge: Challenge?
  /// The reason why the challenge failed.
  let problem: ACMEProblem?

  init(_ body: [UInt8]) throws(ACMEFault) {
    self = try Self.reading(body, "authorization") { object throws(JSONError) in
      var identifier = try object.object("identifier")
      var (challenge, problem): (Challenge?, ACMEProblem?)
      for value in try object.value("challenges").array() {
        var member = try value.object()
        guard try member.string("type") == "http-01" else { continue }
        problem = try member.optional("error", ACMEProblem.read)
        let text = try member.value("token")
        let token = try text.string()
        // RFC 8555 §8.1: base64url. It is a path of the site.
        guard Self.isToken(token) else { throw text.error(.notAllowed(["base64url"])) }
        challenge = Challenge(url: try member.address("url"), token: token)
      }
      return Self(
        status: ACMEStatus(try object.string("status")), name: try identifier.string("value"), challenge: challenge,
        problem: problem)
    }
  }

  private init(status: ACMEStatus, name: String, challenge: Challenge?, problem: ACMEProblem?) {
    self.status = status
    self.name = name
    self.challenge = challenge
    self.problem = problem
  }

  private static let tokenLength = 1...256

  private static func isToken(_ text: String) -> Bool {
    tokenLength ~= text.utf8.count
      && text.utf8.allSatisfy {
        ASCII.isDigit($0) || ASCII.isAlpha($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
      }
  }
}

extension ACMEProblem {
  /// A problem, also of a proxy that knows no problems.
  init(_ body: [UInt8], status: Int) {
    do throws(JSONError) {
      self = try Self.read(JSONValue(parsing: body), status: status)
    } catch {
      self = ACMEProblem(type: "", detail: "status \(status)", status: status)
    }
  }

  static func read(_ value: JSONValue) throws(JSONError) -> ACMEProblem { try read(value, status: 0) }

  private static func read(_ value: JSONValue, status: Int) throws(JSONError) -> ACMEProblem {
    var object = try value.object()
    let type: String? = try object.optional("type")
    var detail: String = try object.optional("detail") ?? ""
    // RFC 8555 §6.7.1: one problem for each name.
    if let first = try object.member("subproblems")?.array().first {
      var part = try first.object()
      if let text: String = try part.optional("detail") { detail += (detail.isEmpty ? "" : " ") + text }
    }
    return ACMEProblem(type: type ?? "", detail: detail, status: status)
  }
}

extension JSONObject {
  fileprivate mutating func address(_ name: String) throws(JSONError) -> WebAddress { try value(name).address() }
}

extension JSONValue {
  /// An https URL: RFC 8555 §6.1 requires TLS for all of them.
  fileprivate func address() throws(JSONError) -> WebAddress {
    guard let address = WebAddress(try string()), address.scheme == .https else {
      throw error(.notAllowed(["https URL"]))
    }
    return address
  }
}

private protocol ACMEObject {}
extension ACMEDirectory: ACMEObject {}
extension ACMEOrder: ACMEObject {}
extension ACMEAuthorization: ACMEObject {}

extension ACMEObject {
  fileprivate static func reading(
    _ body: [UInt8], _ kind: String, _ read: (inout JSONObject) throws(JSONError) -> Self
  ) throws(ACMEFault) -> Self {
    do throws(JSONError) {
      var object = try JSONValue(parsing: body).object()
      return try read(&object)
    } catch {
      throw .invalidResponse("the \(kind) can't be read, \(error)")
    }
  }
}
