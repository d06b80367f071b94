// Times of the kit's values as Foundation's dates, for formatters and views.

#if PARLEY_FOUNDATION
public import Foundation
#if !canImport(Darwin)
public import ParleyKit
#endif

extension Date {
  /// The date of a time of the kit, such as `user.createdAt`: milliseconds since 1970.
  public init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}

extension Timestamp {
  /// A date, rounded to milliseconds.
  public init(_ date: Date) { self.init(Int64((date.timeIntervalSince1970 * 1_000).rounded())) }

  /// The time as a date.
  public var date: Date { Date(milliseconds: Int64(milliseconds)) }
}

extension ShownMessage {
  /// The date to show with the message.
  public var date: Date { Date(milliseconds: displayDate) }
}

extension OutboxOperation {
  /// The date of the user's action.
  public var date: Date { Date(milliseconds: createdAt) }
}

extension User {
  /// The date of the sign-up.
  public var createdDate: Date { summary.createdDate }
}

extension NotificationView {
  /// The date of the notification.
  public var date: Date { Date(milliseconds: entry.createdAt) }
}

// MARK: Entities of the server

extension App {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
}

extension Bot {
  /// `lastUsedAt` as a date; nil without one.
  public var lastUsedDate: Date? { lastUsedAt.map { Date(milliseconds: $0) } }
}

extension ButtonPress {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
}

extension Checkpoint {
  /// `signedAt` as a date.
  public var signedDate: Date { Date(milliseconds: signedAt) }
}

extension CommandInvocation {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
  /// `expiresAt` as a date.
  public var expiresDate: Date { Date(milliseconds: expiresAt) }
}

extension CommandReply {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
}

extension ConnectedApp {
  /// `connectedAt` as a date.
  public var connectedDate: Date { Date(milliseconds: connectedAt) }
  /// `lastUsedAt` as a date.
  public var lastUsedDate: Date { Date(milliseconds: lastUsedAt) }
}

extension Conversation {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
}

extension DataExport {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
  /// `finishedAt` as a date; nil without one.
  public var finishedDate: Date? { finishedAt.map { Date(milliseconds: $0) } }
  /// `expiresAt` as a date; nil without one.
  public var expiresDate: Date? { expiresAt.map { Date(milliseconds: $0) } }
}

extension Email {
  /// `stoppedAt` as a date; nil without one.
  public var stoppedDate: Date? { stoppedAt.map { Date(milliseconds: $0) } }
}

extension File {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
}

extension Forum {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
}

extension ForumActivity {
  /// `lastActivityAt` as a date; nil without one.
  public var lastActivityDate: Date? { lastActivityAt.map { Date(milliseconds: $0) } }
}

extension HeldPost {
  /// `sentAt` as a date; nil without one.
  public var sentDate: Date? { sentAt.map { Date(milliseconds: $0) } }
}

extension Identity {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
  /// `lastUsedAt` as a date; nil without one.
  public var lastUsedDate: Date? { lastUsedAt.map { Date(milliseconds: $0) } }
}

extension Invite {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
  /// `expiresAt` as a date; nil without one.
  public var expiresDate: Date? { expiresAt.map { Date(milliseconds: $0) } }
  /// `revokedAt` as a date; nil without one.
  public var revokedDate: Date? { revokedAt.map { Date(milliseconds: $0) } }
}

extension InviteDraft {
  /// `expiresAt` as a date; nil without one.
  public var expiresDate: Date? { expiresAt.map { Date(milliseconds: $0) } }
}

extension JobView {
  /// `startedAt` as a date.
  public var startedDate: Date { Date(milliseconds: startedAt) }
  /// `finishedAt` as a date; nil without one.
  public var finishedDate: Date? { finishedAt.map { Date(milliseconds: $0) } }
}

extension LastTopic {
  /// `lastActivityAt` as a date.
  public var lastActivityDate: Date { Date(milliseconds: lastActivityAt) }
}

extension LinkPurpose {
  /// `expiresAt` as a date; nil without one.
  public var expiresDate: Date? { expiresAt.map { Date(milliseconds: $0) } }
}

extension ListedTopic {
  /// `lastActivityAt` as a date.
  public var lastActivityDate: Date { Date(milliseconds: lastActivityAt) }
}

extension Message {
  /// `createdAt` as a date: that of the posting, by the server's clock.
  public var date: Date { Date(milliseconds: createdAt) }
}

extension Message.Content {
  /// `sentAt` as a date; nil without one.
  public var sentDate: Date? { sentAt.map { Date(milliseconds: $0) } }
}

extension Message.Edit {
  /// `at` as a date.
  public var date: Date { Date(milliseconds: at) }
}

extension Message.Tombstone {
  /// `at` as a date.
  public var date: Date { Date(milliseconds: at) }
}

extension MessageAction {
  /// `at` as a date.
  public var date: Date { Date(milliseconds: at) }
}

extension ModerationRule {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
}

extension ModerationRuleTrial.Match {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
}

extension ParleyModel.Notification {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
  /// `readAt` as a date; nil without one.
  public var readDate: Date? { readAt.map { Date(milliseconds: $0) } }
}

extension Passkey {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
  /// `lastUsedAt` as a date; nil without one.
  public var lastUsedDate: Date? { lastUsedAt.map { Date(milliseconds: $0) } }
}

extension Poll {
  /// `closesAt` as a date; nil without one.
  public var closesDate: Date? { closesAt.map { Date(milliseconds: $0) } }
}

extension PollDraft {
  /// `closesAt` as a date; nil without one.
  public var closesDate: Date? { closesAt.map { Date(milliseconds: $0) } }
}

extension PushSubscription {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
  /// `lastSentAt` as a date; nil without one.
  public var lastSentDate: Date? { lastSentAt.map { Date(milliseconds: $0) } }
}

extension Removal {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
  /// `finishedAt` as a date; nil without one.
  public var finishedDate: Date? { finishedAt.map { Date(milliseconds: $0) } }
  /// `undoneAt` as a date; nil without one.
  public var undoneDate: Date? { undoneAt.map { Date(milliseconds: $0) } }
  /// `restoredAt` as a date; nil without one.
  public var restoredDate: Date? { restoredAt.map { Date(milliseconds: $0) } }
}

extension Report {
  /// `handledAt` as a date; nil without one.
  public var handledDate: Date? { handledAt.map { Date(milliseconds: $0) } }
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
}

extension ReportsChange {
  /// `handledAt` as a date; nil without one.
  public var handledDate: Date? { handledAt.map { Date(milliseconds: $0) } }
}

extension ReportsChanged {
  /// `handledAt` as a date; nil without one.
  public var handledDate: Date? { handledAt.map { Date(milliseconds: $0) } }
}

extension Sanction {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
  /// `liftedAt` as a date; nil without one.
  public var liftedDate: Date? { liftedAt.map { Date(milliseconds: $0) } }
}

extension SecondFactor {
  /// `enabledAt` as a date; nil without one.
  public var enabledDate: Date? { enabledAt.map { Date(milliseconds: $0) } }
  /// `dueAt` as a date; nil without one.
  public var dueDate: Date? { dueAt.map { Date(milliseconds: $0) } }
}

extension Session {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
  /// `lastUsedAt` as a date; nil without one.
  public var lastUsedDate: Date? { lastUsedAt.map { Date(milliseconds: $0) } }
  /// `expiresAt` as a date; nil without one.
  public var expiresDate: Date? { expiresAt.map { Date(milliseconds: $0) } }
}

extension SignIn {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
}

extension SlashCommand {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
}

extension TimelinePosition {
  /// `readAt` as a date; nil without one.
  public var readDate: Date? { readAt.map { Date(milliseconds: $0) } }
}

extension TokenDraft {
  /// `expiresAt` as a date; nil without one.
  public var expiresDate: Date? { expiresAt.map { Date(milliseconds: $0) } }
}

extension Topic {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
}

extension User.Standing {
  /// `lastSeenAt` as a date; nil without one.
  public var lastSeenDate: Date? { lastSeenAt.map { Date(milliseconds: $0) } }
}

extension UserSummary {
  /// `statusExpiresAt` as a date; nil without one.
  public var statusExpiresDate: Date? { statusExpiresAt.map { Date(milliseconds: $0) } }
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
}

extension Webhook {
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
  /// `lastUsedAt` as a date; nil without one.
  public var lastUsedDate: Date? { lastUsedAt.map { Date(milliseconds: $0) } }
}

extension WebhookDelivery {
  /// `at` as a date.
  public var date: Date { Date(milliseconds: at) }
}

extension WebhookEndpoint {
  /// `disabledAt` as a date; nil without one.
  public var disabledDate: Date? { disabledAt.map { Date(milliseconds: $0) } }
  /// `createdAt` as a date.
  public var createdDate: Date { Date(milliseconds: createdAt) }
  /// `lastDeliveredAt` as a date; nil without one.
  public var lastDeliveredDate: Date? { lastDeliveredAt.map { Date(milliseconds: $0) } }
  /// `nextAttemptAt` as a date; nil without one.
  public var nextAttemptDate: Date? { nextAttemptAt.map { Date(milliseconds: $0) } }
}
#endif
