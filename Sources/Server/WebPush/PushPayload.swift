import ParleyJSON

/// The content of a message: a declarative message of the Push API, with members for the service worker of the web app.
public struct PushPayload: Sendable, Hashable {
  public var title: String
  /// Empty for none.
  public var body: String
  /// The URL that a click opens.
  public var navigate: String
  /// A later notification with the same tag replaces this one.
  public var tag: String
  /// The number at the icon of the app.
  public var badge: Int
  /// Null for a test.
  public var data: Reference?

  /// The notification and its subject.
  public struct Reference: Sendable, Hashable {
    public var notification: String
    public var kind: String
    public var conversation: String?
    public var message: String?
    public var revision: Int?
    /// The name of the sender, if the user lets notifications show it.
    public var sender: String?

    public init(
      notification: String, kind: String, conversation: String? = nil, message: String? = nil, revision: Int? = nil,
      sender: String? = nil
    ) {
      (self.notification, self.kind) = (notification, kind)
      (self.conversation, self.message, self.revision) = (conversation, message, revision)
      self.sender = sender
    }
  }

  public init(
    title: String, body: String, navigate: String, tag: String, badge: Int, data: Reference? = nil
  ) {
    (self.title, self.body) = (title, body)
    (self.navigate, self.tag) = (navigate, tag)
    (self.badge, self.data) = (badge, data)
  }

  /// Two sizes, so that a push service can't tell how long a text is.
  static let sizes = (short: 1_024, long: 3_072)

  /// The JSON, and its size with padding. A body that is too long is cut.
  ///
  /// - Parameter isShort: takes the smaller size.
  func content(isShort: Bool) -> (json: [UInt8], size: Int) {
    let limit = isShort ? Self.sizes.short : Self.sizes.long
    var json = self.json
    if json.count > limit {
      // The longest start that fits. The bytes of a character in JSON differ.
      let characters = Array(body)
      var payload = self
      var (fitting, tooMany) = (0, characters.count)
      while tooMany - fitting > 1 {
        let middle = (fitting + tooMany) / 2
        payload.body = String(characters[..<middle]) + "…"
        if payload.json.count <= limit { fitting = middle } else { tooMany = middle }
      }
      payload.body = fitting == 0 ? "" : String(characters[..<fitting]) + "…"
      json = payload.json
    }
    return (json, json.count <= Self.sizes.short ? Self.sizes.short : Self.sizes.long)
  }

  private var json: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.field("web_push", 8_030)
      json.object("notification") { json in
        json.field("title", title)
        if !body.isEmpty { json.field("body", body) }
        json.field("dir", "auto")
        json.field("navigate", navigate)
        json.field("tag", tag)
        json.field("app_badge", badge)
        if let data { json.object("data") { data.write(to: &$0) } }
      }
    }
    return json.bytes
  }
}

extension PushPayload.Reference {
  fileprivate func write(to json: inout JSONWriter) {
    json.field("notification_id", notification)
    json.field("kind", kind)
    json.field("conversation_id", conversation)
    json.field("message_id", message)
    json.field("revision", revision)
    json.field("sender", sender)
  }
}
