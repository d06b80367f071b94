public import ParleyJSON

/// A button under a bot's message. A press is sent to the bot, which changes the message to show its outcome.
public struct MessageButton: Sendable, Hashable {
  /// Unique in the message.
  public var id: String
  /// The text on the button: one line of at most 40 Unicode scalars.
  public var label: String
  /// The look of the button.
  public var style: Style
  /// Whether the button is shown as pressed.
  public var isPressed: Bool
  /// Whether the button accepts no press.
  public var isDisabled: Bool

  /// The look of a button, chosen by the bot; an unknown style is read as `default`.
  public enum Style: String, Sendable, Hashable, CaseIterable {
    /// Plain, the main one of a message, or one with lasting effects.
    case `default`, primary, danger
  }

  /// The maximum number of buttons of a message.
  public static let maxCount = 10
  /// The length of a button's id in bytes.
  public static let idBytes = 1...64
  /// The maximum length of a label, in Unicode scalars.
  public static let maxLabelScalars = 40

  /// A button with an id and a label.
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
  /// The complete list of buttons, in their order; at most 10.
  public var buttons: [MessageButton]

  /// The buttons of a request.
  public init(_ buttons: [MessageButton]) { self.buttons = buttons }

  public init(json value: JSONValue) throws(JSONError) {
    var buttons: [MessageButton] = []
    for element in try value.array() { buttons.append(try MessageButton(draft: element)) }
    self.buttons = buttons
  }
}

/// A press of a button, in the streams of the bot and of its owner.
public struct ButtonPress: Sendable, Hashable {
  /// The id of the press.
  public var id: ID<ButtonPress>
  /// The message with the button.
  public var message: ID<Message>
  /// The conversation of the message.
  public var conversation: ID<Conversation>
  /// The id of the button in its message.
  public var button: String
  /// The user that pressed the button.
  public var user: ID<User>
  /// The bot: the author of the message.
  public var bot: ID<User>
  /// The revision of the message that the user saw.
  public var revision: Int
  /// Milliseconds since 1970.
  public var createdAt: Int64

  /// Milliseconds. An older event about a press has only its id.
  public static let maxAge: Int64 = 30 * 86_400_000

  /// A press of a button by a user; `createdAt` is in milliseconds since 1970.
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
  /// The id of the button in its message.
  public var button: String
  /// Idempotency key of at most 64 bytes, unique per user: a repeated request presses the button once.
  public var clientID: String?

  /// Reads a press from the body of a request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    button = try object.string("button_id")
    clientID = try object.optional("client_id")
  }
}
