public import ParleyJSON

/// Notification with its message, as the recipient sees it.
public struct NotificationView: Sendable, Hashable {
  /// The notification.
  public let entry: Notification
  /// The message as the recipient sees it; nil for kinds without one, and for a message that the recipient can't read.
  public let message: MessageView?

  /// A notification with its message for the recipient.
  public init(_ entry: Notification, _ message: MessageView?) {
    self.entry = entry
    self.message = message
  }
}

extension NotificationView: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      entry.writeFields(to: &json)
      json.field("message", message)
    }
  }
}
