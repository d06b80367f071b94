public import Community
import ParleyModel

extension Languages {
  /// The texts of mail, in the languages of the app.
  public var mailTexts: MailTexts {
    MailTexts { language in
      let words = words(in: language)
      return MailTexts.Words(
        language: words.language, direction: words.direction,
        say: { text, parameters, count in
          guard let key = PageText.Key(rawValue: text.rawValue) else { return text.rawValue }
          return words.said(key, parameters, count: count)
        },
        headline: { words.filled($0.mailKey, name: words.isolated($0.name)) }, minute: { words.minute($0) })
    }
  }
}

extension NotificationHeadline {
  /// The text of a notification, with the name of its actor.
  fileprivate var mailKey: PageText.Key {
    switch kind {
    case .mention: .inboxMention
    case .reply: .inboxReply
    case .direct: .mailDirect
    case .room: .inboxRoom
    case .request, .report, .warning, .token, .secondFactorEnabled, .secondFactorDisabled, .recoveryCodesCreated,
      .recoveryCodeUsed, .signIn, .endpointDisabled, .passkeyCreated, .passkeyDeleted, .passkeyCopied, .identityLinked,
      .identityUnlinked,
      .alert:
      key
    }
  }
}
