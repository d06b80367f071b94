public import ParleyJSON

/// A message as one user sees it.
public struct MessageView: Sendable, Hashable {
  /// The message as all readers see it.
  public var message: Message
  /// Actions of the viewer.
  public var mine: Set<String>
  /// Options that the viewer has chosen in the poll.
  public var vote: [Int]
  /// Delivery status of the viewer's own message; nil for other messages.
  public var status: Status?
  /// The text as HTML, if requested.
  public var html: String?
  /// Whether the JSON has the annotations of the message; false if the request excludes them.
  public var showsAnnotations = true

  /// A message as its viewer sees it.
  public init(
    _ message: Message, mine: Set<String> = [], vote: [Int] = [], status: Status? = nil, html: String? = nil
  ) {
    self.message = message
    self.mine = mine
    self.vote = vote
    self.status = status
    self.html = html
  }

  /// Delivery status of a message for its author: read by none, some or all of the other participants.
  public enum Status: String, Sendable, Hashable, CaseIterable {
    /// Stored by the server.
    case delivered
    /// A recipient has read the message.
    case someRead = "some_read"
    /// All recipients have read the message.
    case allRead = "all_read"
  }

  /// ETag of the view. It includes a fingerprint because actions and read positions raise no revision.
  public var tag: String { "\(message.revision)-\(Fingerprint(of: self).hexadecimal)" }
}

extension MessageView: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in writeFields(to: &json) }
  }

  /// Writes the members into an open object of a larger response.
  public func writeFields(to json: inout JSONWriter) {
    message.writeFields(to: &json, mine: mine, vote: vote, showsAnnotations: showsAnnotations)
    if let html { json.field("html", html) }
    if let status { json.field("status", status.rawValue) }
  }
}

extension MessageView: JSONReadable {
  /// Ignores unknown members: a newer server may send more.
  public init(json value: JSONValue) throws(JSONError) {
    self.init(try Message(json: value))
    var object = try value.object()
    status = try object.optionalWord("status")
    html = try object.optional("html")
    let hasAnnotations: JSONRaw? = try object.optional("annotations") { value throws(JSONError) in value.raw }
    showsAnnotations = message.tombstone != nil || hasAnnotations != nil
    guard let content = message.content else { return }
    if content.poll != nil {
      var poll = try object.object("poll")
      vote = try poll.optional("mine") ?? []
    }
    var actions = try object.object("actions")
    for (type, value) in actions.members() {
      var action = try value.object()
      if try action.optional("mine") ?? false { mine.insert(type) }
    }
    // Only the viewer's own star is counted.
    if mine.contains("star"), var content = message.content {
      content.actions.removeAll { $0.type == "star" }
      message.state = .live(content)
    }
  }
}

/// Delivery and read status of one participant in a small conversation.
public struct MessageReceipt: Sendable, Hashable {
  /// The participant that receives the message.
  public var user: ID<User>
  /// Whether a device of the participant has received the message.
  public var isDelivered: Bool
  /// Whether the participant has read the message.
  public var isRead: Bool

  /// The receipt of a message by one participant.
  public init(user: ID<User>, isDelivered: Bool, isRead: Bool) {
    self.user = user
    self.isDelivered = isDelivered
    self.isRead = isRead
  }
}

extension MessageReceipt: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("user_id", user)
      json.field("delivered", isDelivered)
      json.field("read", isRead)
    }
  }
}

/// Action of a user on a message.
public struct MessageAction: Sendable, Hashable {
  /// The name of the action, such as `like` or `reaction:👍`; see `ActionType`.
  public var type: String
  /// The user that set the action.
  public var user: ID<User>
  /// The time of the action, in milliseconds since 1970.
  public var at: Int64

  /// The action.
  public var action: ActionType { ActionType(named: type) }

  /// An action of a user; `at` is in milliseconds since 1970.
  public init(type: String, user: ID<User>, at: Int64) {
    self.type = type
    self.user = user
    self.at = at
  }
}

extension MessageAction: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("type", type)
      json.field("user_id", user)
      json.field("created_at", Timestamp(at))
    }
  }
}
