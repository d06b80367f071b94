public import ParleyJSON

/// Notification with its message, as the recipient sees it.
public struct NotificationView: Sendable, Hashable {
  public let entry: Notification
  public let message: MessageView?

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
