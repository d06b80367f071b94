// Failures of App.net and pnut.

import API
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// An answer other than success: `meta` alone.
struct EnvelopeFailure: Error {
  private var problem: Problem
  private let message: String
  private let slug: String?

  /// A refusal that the dialect gives itself.
  init(_ status: Status, _ message: String) {
    problem = Problem(status, code: "", title: message)
    self.message = message
    slug = nil
  }

  /// The failure for an error of a handler.
  init(_ error: any Error) {
    if let failure = error as? EnvelopeFailure {
      self = failure
      return
    }
    problem = Problem(error)
    message = ([problem.detail ?? problem.title] + problem.errors.map { "\($0.field): \($0.code)" })
      .joined(separator: " ")
    slug =
      switch problem.code {
      case "unauthenticated": "invalid-token"
      case "session_ended": "not-authorized"
      default: nil
      }
    problem.status = Self.status(of: problem.status)
  }

  static let notFound = EnvelopeFailure(Problem.notFound)

  static func methodNotAllowed(_ methods: [Method]) -> EnvelopeFailure {
    let names = methods.map(\.name).sorted()
    var failure = EnvelopeFailure(
      .methodNotAllowed, "Method not allowed. Please use: \(names.joined(separator: ","))")
    failure.problem.fields.add("Allow", names.joined(separator: ", "))
    return failure
  }

  /// Clients know few statuses: a conflict is a wrong request, and a thing that is gone is not found.
  private static func status(of status: Status) -> Status {
    switch status.code {
    case 409, 413, 415, 424: .badRequest
    case 410: .notFound
    default: status
    }
  }

  func response(on server: Context, _ api: API) -> Response {
    if let cause = problem.cause { api.logLine("\(server.id) \(cause)") }
    var json = JSONWriter()
    json.object { json in
      json.object("meta") { json in
        json.field("code", problem.status.code)
        json.field("error_message", message)
        json.field("error_id", server.id.description)
        if let slug { json.field("error_slug", slug) }
        if let seconds = problem.fields["retry-after"].flatMap({ LenientValue.number($0) }) {
          json.field("retry_in", seconds)
        }
      }
    }
    var response = Response.envelope(json, problem.status)
    for index in 0..<problem.fields.count {
      response.fields.add(problem.fields.name(at: index), problem.fields.value(at: index))
    }
    if problem.closesConnection { response.fields.add("Connection", "close") }
    return response
  }
}
