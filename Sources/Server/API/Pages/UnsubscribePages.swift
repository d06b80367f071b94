// The page behind *Unsubscribe* in a mail, without a script and without a session. Mail programs send the POST by themselves
// (RFC 8058); a GET changes nothing, because scanners of mail open links.

import Community
import ParleyModel
import ParleyWire
import Web

extension PageContext {
  static let maxUnsubscribeBody = 1_024

  func unsubscribePage() throws -> VisitorPage {
    let (code, list) = try unsubscribeCode()
    let (title, lead) = (words[list.unsubscribeTitle], words[list.unsubscribeLead])
    return VisitorPage([title]) { html in
      html.tag("h1", [:], title)
      html.tag("p", [:], lead)
      html.tag("form", ["method": "post", "action": "/unsubscribe/\(code)"]) { html in
        html.tag("p") { html in
          html.tag("button", ["class": "button is-primary", "type": "submit"], html.words[.unsubscribeVerb])
        }
      }
    }
  }

  func unsubscribe() async throws -> VisitorPage {
    let (code, list) = try unsubscribeCode()
    guard let mail = api.mail else { throw Refusal.notFound }
    try await api.community.unsubscribeFromMail(code, over: mail)
    let (title, done) = (words[list.unsubscribeTitle], words[list.unsubscribed])
    return VisitorPage([title]) { html in
      html.tag("h1", [:], title)
      html.tag("p", [:], done)
    }
  }

  private func unsubscribeCode() throws -> (code: String, list: MailList) {
    guard let mail = api.mail, let code = request.parameters["code"] else { throw Refusal.notFound }
    return (code, try mail.list(ofUnsubscribeCode: code))
  }
}

extension MailList {
  fileprivate var unsubscribeTitle: PageText.Key {
    switch self {
    case .notifications: .unsubscribeTitle
    case .weeklyDigest: .unsubscribeDigestTitle
    }
  }

  fileprivate var unsubscribeLead: PageText.Key {
    switch self {
    case .notifications: .unsubscribeLead
    case .weeklyDigest: .unsubscribeDigestLead
    }
  }

  fileprivate var unsubscribed: PageText.Key {
    switch self {
    case .notifications: .unsubscribed
    case .weeklyDigest: .unsubscribedDigest
    }
  }
}
