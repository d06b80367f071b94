public import ParleyJSON

/// A picture of the site that stands for `:name:` in messages and reactions.
public struct CustomEmoji: Sendable, Hashable {
  public let id: ID<CustomEmoji>
  public let name: String

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
  public init(_ object: inout JSONObject) throws(JSONError) {
    self.init(id: try object.read("id"), name: try object.string("name"))
  }

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
  public var name: String
  public var file: ID<File>
  public var clientID: String?

  public init(_ object: inout JSONObject) throws(JSONError) {
    name = try object.string("name")
    file = try object.read("file")
    clientID = try object.optional("client_id")
  }
}
