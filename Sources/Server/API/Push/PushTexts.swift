public import Community
import ParleyModel

extension Languages {
  /// The texts of push messages, in the languages of the app.
  public var pushTexts: PushTexts { PushTexts { text, language in say(text, in: language) } }

  private func say(_ text: PushTexts.Text, in language: String?) -> String {
    let words = words(in: language)
    switch text {
    case .message: return words[.pushMessage]
    case .test: return words[.pushTest]
    case .several(let count, let name, let title):
      let key: PageText.Key =
        switch (name, title) {
        case (nil, nil): .pushSeveral
        case (nil, _): .pushSeveralIn
        case (_, nil): .pushSeveralFrom
        case (_, _): .pushSeveralFromIn
        }
      return words.said(key, ["n": "\(count)", "name": name ?? "", "title": title ?? ""], count: nil)
    case .notification(let headline): return words.filled(headline.key, name: headline.name)
    }
  }
}

extension NotificationHeadline {
  /// The text of a notification without a message.
  var key: PageText.Key {
    switch kind {
    case .mention, .reply, .direct, .room: .pushMessage
    case .request: .inboxRequest
    case .report: hasActor ? .inboxReport : .inboxReportFound
    case .warning: .inboxWarning
    case .token: .inboxToken
    case .secondFactorEnabled: .inboxSecondFactorEnabled
    case .secondFactorDisabled: isOwn ? .inboxSecondFactorDisabledSelf : .inboxSecondFactorDisabled
    case .recoveryCodesCreated: .inboxRecoveryCodesCreated
    case .recoveryCodeUsed: .inboxRecoveryCodeUsed
    case .signIn: .inboxSignIn
    case .endpointDisabled: .inboxEndpointDisabled
    case .passkeyCreated: .inboxPasskeyCreated
    case .passkeyDeleted: .inboxPasskeyDeleted
    case .passkeyCopied: .inboxPasskeyCopied
    case .identityLinked: .inboxIdentityLinked
    case .identityUnlinked: .inboxIdentityUnlinked
    case .alert: alert.flatMap { PageText.Key(rawValue: "inbox.alert.\($0)") } ?? .inboxAlert
    }
  }
}
