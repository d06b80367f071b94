public import ParleyJSON

/// A button under a bot's message. A press is sent to the bot, which changes the message to show its outcome.
public struct MessageButton: Sendable, Hashable {
  /// Unique in the message.
  public var id: String
  public var label: String
  public var style: Style
  /// Whether the button is shown as pressed.
  public var isPressed: Bool
  /// Whether the button accepts no press.
  public var isDisabled: Bool

  public enum Style: String, Sendable, Hashable, CaseIterable {
    case `default`, primary, danger
  }

  public static let maxCount = 10
  public static let idBytes = 1...64
  public static let maxLabelScalars = 40

  public init(
    _ id: String, _ label: String, style: Style = .default, isPressed: Bool = false, isDisabled: Bool = false
  ) {
    self.id = id
    self.label = label
    self.style = style
    self.isPressed = isPressed
    self.isDisabled = isDisabled
  }

  /// An id has ASCII letters, digits and `_`, `-`, `.`.
  public static func isID(_ text: String) -> Bool {
    idBytes.contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}

extension MessageButton: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("label", label)
      json.field("style", style.rawValue)
      json.field("pressed", isPressed)
      json.field("disabled", isDisabled)
    }
  }

  /// Ignores unknown members and styles: a newer server may send more.
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let style: String? = try object.optional("style")
    self.init(
      try object.string("id"), try object.string("label"),
      style: style.flatMap { Style(rawValue: $0) } ?? .default,
      isPressed: try object.optional("pressed") ?? false, isDisabled: try object.optional("disabled") ?? false)
  }

  /// A button of a request. Unknown members and styles are refused.
  fileprivate init(draft value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      try object.string("id"), try object.string("label"), style: try object.optionalWord("style") ?? .default,
      isPressed: try object.optional("pressed") ?? false, isDisabled: try object.optional("disabled") ?? false)
    try object.finish()
  }
}

/// The buttons of a new or changed message.
public struct ButtonDrafts: Sendable, Hashable, JSONReadable {
  public var buttons: [MessageButton]

  public init(_ buttons: [MessageButton]) { self.buttons = buttons }

  public init(json value: JSONValue) throws(JSONError) {
    var buttons: [MessageButton] = []
    for element in try value.array() { buttons.append(try MessageButton(draft: element)) }
    self.buttons = buttons
  }
}

/// A press of a button, in the streams of the bot and of its owner.
public struct ButtonPress: Sendable, Hashable {
  public var id: ID<ButtonPress>
  public var message: ID<Message>
  public var conversation: ID<Conversation>
  public var button: String
  public var user: ID<User>
  public var bot: ID<User>
  /// The revision of the message that the user saw.
  public var revision: Int
  /// Milliseconds since 1970.
  public var createdAt: Int64

  /// Milliseconds. An older event about a press has only its id.
  public static let maxAge: Int64 = 30 * 86_400_000

  public init(
    id: ID<ButtonPress>, message: ID<Message>, conversation: ID<Conversation>, button: String, user: ID<User>,
    bot: ID<User>, revision: Int, createdAt: Int64
  ) {
    self.id = id
    self.message = message
    self.conversation = conversation
    self.button = button
    self.user = user
    self.bot = bot
    self.revision = revision
    self.createdAt = createdAt
  }
}

extension ButtonPress: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("message_id", message)
      json.field("conversation_id", conversation)
      json.field("button_id", button)
      json.field("user_id", user)
      json.field("bot_id", bot)
      json.field("revision", revision)
      json.field("created_at", Timestamp(createdAt))
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      id: try object.read("id"), message: try object.read("message_id"),
      conversation: try object.read("conversation_id"), button: try object.string("button_id"),
      user: try object.read("user_id"), bot: try object.read("bot_id"),
      revision: try object.int("revision", in: 1...Int.max), createdAt: Int64(createdAt.milliseconds))
  }
}

/// Request to press a button.
public struct ButtonPressDraft: Sendable {
  public var button: String
  public var clientID: String?

  public init(_ object: inout JSONObject) throws(JSONError) {
    button = try object.string("button_id")
    clientID = try object.optional("client_id")
  }
}
