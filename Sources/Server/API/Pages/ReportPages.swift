// The form by which a visitor reports a post, without a script and without an account.

import Community
import ParleyModel
import ParleyWire
import Web

extension PageContext {
  /// Bytes of the form: the reason, with each byte escaped.
  static let maxReportBody = 16_384

  func reportPage() throws -> VisitorPage {
    let message = try view.getPlainMessage(try id("message"), for: caller).message
    guard message.isLive else { throw Refusal.gone }
    let limit = String(api.community.bounds.reasonScalars)
    return VisitorPage([words[.reportTitle]]) { html in
      html.tag("h1", [:], html.words[.reportTitle])
      html.tag("p", [:], html.words[.reportLead])
      html.tag("blockquote", ["dir": "auto"], message.line(limit: VisitorPage.descriptionScalars))
      html.tag("form", ["method": "post", "action": PageAddress.report(message.id)]) { html in
        html.tag("p") { html in
          html.tag("label", ["for": "reason"], html.words[.reportReason])
        }
        html.tag("p") { html in
          html.tag(
            "textarea",
            ["id": "reason", "name": "reason", "rows": "4", "cols": "40", "maxlength": limit, "required": ""], "")
        }
        html.tag("p") { html in
          html.tag("button", ["class": "button is-primary", "type": "submit"], html.words[.reportSend])
        }
      }
      Self.writeBack(to: message.id, &html)
    }
  }

  func reportedPage() throws -> VisitorPage {
    let message = try view.getPlainMessage(try id("message"), for: caller).message.id
    return VisitorPage([words[.reportedTitle]]) { html in
      html.tag("h1", [:], html.words[.reportedTitle])
      html.tag("p", [:], html.words[.reported])
      Self.writeBack(to: message, &html)
    }
  }

  /// Takes the form. A missing reason shows it again.
  func report() async throws -> Response {
    let id: ID<Message> = try id("message")
    let bytes = try await request.body.collect(limit: Self.maxReportBody)
    guard let reason = Self.reason(in: bytes) else { throw Problem.badRequest("The body is no form.") }
    do {
      try api.limiter.count(.reporting, by: caller, at: server.client, now: server.uptime)
      try await api.community.createVisitorReport(of: id, reason: reason, by: caller)
      return .redirect(.seeOther, to: PageAddress.reported(id))
    } catch {
      switch Problem(error).code {
      case "invalid": return .redirect(.seeOther, to: PageAddress.report(id))
      case "rate_limited", "too_many": return try await respond(limitPage(id))
      default: throw error
      }
    }
  }

  private static func reason(in form: [UInt8]) -> String? {
    do throws(FormPairs.Refusal) {
      return try FormPairs(String(decoding: form, as: UTF8.self)).pairs.first { $0.name == "reason" }?.value ?? ""
    } catch {
      return nil
    }
  }

  private func limitPage(_ message: ID<Message>) -> VisitorPage {
    var page = VisitorPage([words[.reportTitle]]) { html in
      html.tag("h1", [:], html.words[.reportTitle])
      html.tag("p", [:], html.words[.reportLimit])
      Self.writeBack(to: message, &html)
    }
    page.status = .tooManyRequests
    return page
  }

  private static func writeBack(to message: ID<Message>, _ html: inout TagWriter) {
    html.tag("p") { html in
      html.tag("a", ["href": PageAddress.message(message), "rel": "nofollow"], html.words[.back])
    }
  }
}
