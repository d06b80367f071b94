public import ParleyJSON

/// A picture of the site that stands for `:name:` in messages and reactions.
public struct CustomEmoji: Sendable, Hashable {
  /// The id of the emoji.
  public let id: ID<CustomEmoji>
  /// The name without colons, from 2 to 32 bytes.
  public let name: String

  /// An emoji with its name, as the settings list it.
  public init(id: ID<CustomEmoji>, name: String) {
    self.id = id
    self.name = name
  }

  private static let nameBytes = 2...32

  /// A name has lower-case ASCII letters, digits, `_` and `-`.
  public static func isName(_ text: some StringProtocol) -> Bool {
    nameBytes.contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// The name in `:name:`; nil for another text.
  public static func name(in text: Substring) -> String? {
    guard text.utf8.count > 2, text.hasPrefix(":"), text.hasSuffix(":") else { return nil }
    let name = text.dropFirst().dropLast()
    return isName(name) ? String(name) : nil
  }
}

extension CustomEmoji: JSONMembers {
  /// Decodes an emoji from the members of its JSON object.
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(id: try object.read("id"), name: try object.string("name"))
  }

  /// Encodes the members of an emoji.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("id", id)
    json.field("name", name)
  }
}

extension CustomEmoji {
  /// An emoji added (`from` is nil) or deleted, for the audit log.
  public static func change(from: String?, to: String?) -> JSONRaw {
    var json = JSONWriter()
    json.object { json in
      json.field("field", "emoji")
      json.field("from", from)
      json.field("to", to)
    }
    return JSONRaw(trusted: json.bytes)
  }
}

/// Request to create a custom emoji from an uploaded picture.
public struct CustomEmojiDraft: Sendable {
  /// The name without colons, from 2 to 32 bytes, unique on the site.
  public var name: String
  /// The id of a picture that the caller uploaded.
  public var file: ID<File>
  /// Idempotency key of 1 to 64 characters: a repeated request creates no second emoji.
  public var clientID: String?

  /// Decodes the body of the request.
  public init(_ object: inout JSONObject) throws(JSONError) {
    name = try object.string("name")
    file = try object.read("file")
    clientID = try object.optional("client_id")
  }
}
