// Bounds of the JSON of messages, which a page and the memory of a request are measured by. They are exact for texts, which
// can be long, and generous for the rest.

import ParleyJSON

extension Message {
  /// A bound of the JSON of a message without content, in bytes: the members of all messages with the longest ids.
  public static var minSize: Int { 768 }

  /// A bound of the JSON in bytes, as any viewer gets it without HTML.
  public var size: Int {
    let head = Self.minSize + (clientID.map(JSONWriter.size) ?? 0)
    // `content` copies the whole.
    return switch state {
    case .live(let content): head + content.size
    case .deleted(let tombstone): head + (tombstone.reason.map(JSONWriter.size) ?? 0)
    }
  }
}

extension Message.Content {
  /// A number with its name and its comma.
  private static var memberSize: Int { 32 }

  fileprivate var size: Int {
    var size = JSONWriter.size(of: text) + (entities?.bytes.count ?? 0) + (annotations?.bytes.count ?? 0)
    size += attachments.count * Self.memberSize
    for description in descriptions { size += JSONWriter.size(of: description) + 1 }
    // A viewer's own mark is a second member.
    for action in actions { size += JSONWriter.size(of: action.type) + 2 * Self.memberSize }
    for button in buttons { size += JSONWriter.size(of: button.id) + JSONWriter.size(of: button.label) + 96 }
    guard let poll else { return size }
    // Each option may be one that the viewer has chosen.
    for option in poll.options { size += JSONWriter.size(of: option.text) + 2 * Self.memberSize }
    return size + 5 * Self.memberSize
  }
}

extension MessageView {
  /// A bound of the JSON in bytes.
  public var size: Int { message.size + (html.map { Self.size(ofHTML: $0) } ?? 0) }

  /// The bytes that HTML adds to the JSON.
  public static func size(ofHTML html: String) -> Int { JSONWriter.size(of: html) + 8 }
}
