// Failures: `{"status": {"code", "type", "details"}, "data": null}`, and text for subscriptions.

import API
import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// The member `status` of an answer.
struct MorMessagesStatus: JSONWritable {
  enum Kind: Int {
    case success, unspecified, error, unauthorized

    var name: String {
      switch self {
      case .success: "SUCCESS"
      case .unspecified: "UNSPECIFIED"
      case .error: "ERROR"
      case .unauthorized: "UNAUTHORIZED"
      }
    }
  }

  let kind: Kind
  let details: String?

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("code", kind.rawValue)
      json.field("type", kind.name)
      json.field("details", details)
    }
  }

  /// The answer with this status.
  func response(_ status: Status = .ok, username: String? = nil) -> Response {
    var json = JSONWriter()
    json.object { json in
      json.field("status", self)
      if let username {
        json.object("data") { json in json.field("username", username) }
      } else {
        json.null("data")
      }
    }
    return .morMessages(json, status)
  }
}

extension Response {
  /// JSON that no cache stores.
  static func morMessages(_ json: JSONWriter, _ status: Status = .ok) -> Response {
    var response = Response.json(json.bytes, status)
    response.fields.add("Cache-Control", "no-store")
    return response
  }
}

/// An answer other than success.
struct MorMessagesFailure: Error {
  /// Status, fields and the cause for the log.
  private var problem: Problem
  private var details: String
  /// Whether the body is plain text.
  private var isText = false

  init(_ status: Status, _ details: String, isText: Bool = false) {
    problem = Problem(status, code: "", title: details)
    self.details = details
    self.isText = isText
  }

  /// The failure for an error of a handler.
  init(_ error: any Error) {
    if let failure = error as? MorMessagesFailure {
      self = failure
      return
    }
    problem = Problem(error)
    details = problem.detail ?? problem.title
    if let fault = problem.errors.first { details += " \(fault.field): \(fault.code)" }
    if case Refusal.secondFactorRequired = error {
      details = "This user has a two-step sign-in. Use a personal token as the password."
      problem.status = .unauthorized
    }
  }

  static let login = MorMessagesFailure(.unauthorized, "unsupported login method: GET")
  static let credentials = MorMessagesFailure(.badRequest, "missing credentials")
  static let unencrypted = MorMessagesFailure(.forbidden, "TLS is required")
  static let foreignOrigin = MorMessagesFailure(.forbidden, "A page of another origin may not do this.")
  static let date = MorMessagesFailure(
    .badRequest, "invalid date string; must format like yyyy-MM-dd'T'HH:mm:ss.SSSSSSXX")
  /// The status is that of the original server.
  static let mismatch = MorMessagesFailure(
    .internalServerError, "url path forumId does not match posted forum.id")

  func response(on server: Context, _ api: API) -> Response {
    if let cause = problem.cause { api.logLine("\(server.id) \(cause)") }
    let isUnauthorized = problem.status == .unauthorized
    var response =
      isText
      ? Response.text(details, problem.status)
      : MorMessagesStatus(kind: isUnauthorized ? .unauthorized : .error, details: details).response(problem.status)
    for index in 0..<problem.fields.count where problem.fields.name(at: index).lowercased() != "www-authenticate" {
      response.fields.add(problem.fields.name(at: index), problem.fields.value(at: index))
    }
    if isUnauthorized {
      response.fields.add("WWW-Authenticate", #"Basic realm="MorMessages", charset="UTF-8""#)
    }
    if problem.closesConnection { response.fields.add("Connection", "close") }
    return response
  }
}
