/// A page of unread forums and conversations, with everything else that is unread.
public struct UnreadOverview: Sendable {
  /// Forums and conversations with unread content, by `UnreadItem.urgency`.
  public let page: ListPage<UnreadItem>
  /// The newest unread notifications that belong to no item; at most `maxNotifications`.
  public let notifications: [Notification]
  /// All unread notifications, except those about `later`.
  public let unread: InboxCounts
  /// Conversations that the user has put off, which are not listed.
  public let later: [Later]
  /// The newest of the unread messages and notifications; nil if there are none.
  public let upTo: Int?

  /// Upper bound of the number of `notifications`.
  public static let maxNotifications = 20

  /// An overview with a page of items and the rest of the inbox.
  public init(
    page: ListPage<UnreadItem>, notifications: [Notification], unread: InboxCounts, later: [Later], upTo: Int?
  ) {
    self.page = page
    self.notifications = notifications
    self.unread = unread
    self.later = later
    self.upTo = upTo
  }
}

extension Notification.Kind {
  /// Whether the item of a conversation counts the notification.
  public var isCountedByConversation: Bool {
    switch self {
    case .mention, .reply, .direct, .room: true
    case .request, .report, .warning, .token, .secondFactorEnabled, .secondFactorDisabled, .recoveryCodesCreated,
      .recoveryCodeUsed, .signIn, .endpointDisabled, .passkeyCreated, .passkeyDeleted, .passkeyCopied,
      .identityLinked, .identityUnlinked,
      .alert:
      false
    }
  }
}
