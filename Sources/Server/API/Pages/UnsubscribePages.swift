// The page behind *Unsubscribe* in a mail, without a script and without a session. Mail programs send the POST by themselves
// (RFC 8058); a GET changes nothing, because scanners of mail open links.

import Community
import ParleyModel
import ParleyWire
import Web

extension PageContext {
  static let maxUnsubscribeBody = 1_024

  func unsubscribePage() throws -> VisitorPage {
    let code = try unsubscribeCode()
    return VisitorPage([words[.unsubscribeTitle]]) { html in
      html.tag("h1", [:], html.words[.unsubscribeTitle])
      html.tag("p", [:], html.words[.unsubscribeLead])
      html.tag("form", ["method": "post", "action": "/unsubscribe/\(code)"]) { html in
        html.tag("p") { html in
          html.tag("button", ["class": "button is-primary", "type": "submit"], html.words[.unsubscribeVerb])
        }
      }
    }
  }

  func unsubscribe() async throws -> VisitorPage {
    let code = try unsubscribeCode()
    guard let mail = api.mail else { throw Refusal.notFound }
    try await api.community.unsubscribeFromMail(code, over: mail)
    return VisitorPage([words[.unsubscribeTitle]]) { html in
      html.tag("h1", [:], html.words[.unsubscribeTitle])
      html.tag("p", [:], html.words[.unsubscribed])
    }
  }

  private func unsubscribeCode() throws -> String {
    guard let mail = api.mail, let code = request.parameters["code"] else { throw Refusal.notFound }
    try mail.checkUnsubscribeCode(code)
    return code
  }
}
