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

extension Message {
  /// The date of its posting, by the server's clock.
  public var date: Date { Date(milliseconds: createdAt) }
}

extension NotificationView {
  /// The date of the notification.
  public var date: Date { Date(milliseconds: entry.createdAt) }
}

extension ListedTopic {
  /// The date of the newest message.
  public var lastActivityDate: Date { Date(milliseconds: lastActivityAt) }
}
#endif
