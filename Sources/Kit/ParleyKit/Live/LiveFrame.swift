public import ParleyJSON
public import ParleyModel

/// A frame of the live connection.
public struct LiveFrame: Sendable {
  /// `message.created`, `typing`, …
  public let name: String
  /// The position in the site's event log; nil for a signal, which is not stored.
  public let id: Int?
  /// `conversation:12`, `user:7`, …
  public let stream: String?
  /// The position in its stream, from 1 without gaps.
  public let offset: Int?
  /// The complete JSON of the frame.
  public let representation: JSONRaw
  let cursor: String?
  let reason: String?

  /// The message that was created or changed; nil for any other frame.
  public var message: Message? {
    do throws(JSONError) {
      guard name.hasPrefix("message."), id != nil else { return nil }
      let event = try ReceivedEvent(json: JSONValue(parsing: representation.bytes))
      guard case .message(let message) = event.content else { return nil }
      return message
    } catch { return nil }
  }

  init(_ text: String) throws(JSONError) { try self.init(json: JSONValue(parsing: Array(text.utf8))) }
}

extension LiveFrame: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    representation = value.raw
    var object = try value.object()
    name = try object.string("event")
    let id: String? = try object.optional("id")
    self.id = id.flatMap { Int($0) }
    stream = try object.optional("stream")
    offset = try object.optional("offset")
    cursor = try object.optional("cursor")
    reason = try object.optional("reason")
  }
}
