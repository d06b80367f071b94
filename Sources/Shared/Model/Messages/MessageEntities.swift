public import ParleyJSON

/// Mentions, hashtags and links of a text, with positions in Unicode scalars of the text as sent.
public struct MessageEntities: Sendable, Hashable {
  /// The mentions, in the order of the text.
  public var mentions: [Mention] = []
  /// The hashtags, in the order of the text.
  public var hashtags: [Hashtag] = []
  /// The links, in the order of the text.
  public var links: [Link] = []

  /// The entities of a text without any.
  public init() {}

  /// Whether the text has no mention, hashtag or link.
  public var isEmpty: Bool { mentions.isEmpty && hashtags.isEmpty && links.isEmpty }

  /// The position and length of an entity in its text, both in Unicode scalars.
  public struct Span: Sendable, Hashable {
    /// The index of the first Unicode scalar, from 0.
    public var position: Int
    /// The number of Unicode scalars, from 1.
    public var length: Int

    /// A range of a text in Unicode scalars.
    public init(position: Int, length: Int) {
      self.position = position
      self.length = length
    }
  }

  /// Mention of an existing user, of a group of users, or of all members of the forum.
  public struct Mention: Sendable, Hashable {
    /// The range of the mention in the text.
    public var span: Span
    /// The mentioned name as written, without the `@`.
    public var name: String
    /// Nil for a mention of a group or the room.
    public var user: ID<User>?
    /// The mentioned group of users; nil for a mention of a user or the room.
    public var group: ID<UserGroup>?

    /// Reserved name of the room mention.
    public static let room = "room"

    /// A mention of a user or a group; of the room if both are nil.
    public init(_ span: Span, name: String, user: ID<User>?, group: ID<UserGroup>? = nil) {
      self.span = span
      self.name = name
      self.user = user
      self.group = group
    }
  }

  /// Hashtag in a text.
  public struct Hashtag: Sendable, Hashable {
    /// The range of the hashtag in the text.
    public var span: Span
    /// The hashtag as written, without the `#`.
    public var name: String

    /// A hashtag at a range of the text.
    public init(_ span: Span, name: String) {
      self.span = span
      self.name = name
    }
  }

  /// Link in a text.
  public struct Link: Sendable, Hashable {
    /// The range of the link in the text.
    public var span: Span
    /// The address of the link.
    public var url: String

    /// A link at a range of the text.
    public init(_ span: Span, url: String) {
      self.span = span
      self.url = url
    }
  }

  /// The entities of a text without any, in JSON.
  static let none = JSONRaw(trusted: Array(#"{"mentions":[],"hashtags":[],"links":[]}"#.utf8))

  /// Stored form; nil without entities.
  public var stored: String? {
    if isEmpty { return nil }
    var json = JSONWriter()
    json.value(self)
    return String(decoding: json.bytes, as: UTF8.self)
  }
}

extension MessageEntities {
  /// The names of the hashtags in a stored form, in the order of the text.
  public static func hashtags(in stored: JSONRaw?) throws(JSONError) -> [String] {
    guard let stored else { return [] }
    var object = try JSONValue(parsing: stored.bytes).object()
    var names: [String] = []
    for hashtag in try object.value("hashtags").array() {
      var hashtag = try hashtag.object()
      names.append(try hashtag.string("name"))
    }
    return names
  }
}

extension MessageEntities: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.array("mentions") { json in
        for mention in mentions {
          json.object { json in
            mention.span.writeFields(to: &json)
            json.field("name", mention.name)
            json.field("user_id", mention.user)
            json.field("room", mention.user == nil && mention.group == nil)
            if let group = mention.group { json.field("group_id", group) }
          }
        }
      }
      json.array("hashtags") { json in
        for hashtag in hashtags {
          json.object { json in
            hashtag.span.writeFields(to: &json)
            json.field("name", hashtag.name)
          }
        }
      }
      json.array("links") { json in
        for link in links {
          json.object { json in
            link.span.writeFields(to: &json)
            json.field("url", link.url)
          }
        }
      }
    }
  }
}

extension MessageEntities.Span {
  fileprivate func writeFields(to json: inout JSONWriter) {
    json.field("pos", position)
    json.field("len", length)
  }
}

extension Message.Content {
  /// Whether the text has a room mention.
  public func namesRoom() throws(JSONError) -> Bool {
    guard let entities else { return false }
    var object = try JSONValue(parsing: entities.bytes).object()
    for mention in try object.value("mentions").array() {
      var mention = try mention.object()
      if try mention.optional("room") ?? false { return true }
    }
    return false
  }

  /// The groups that the text mentions.
  public func mentionedGroups() throws(JSONError) -> Set<ID<UserGroup>> {
    guard let entities else { return [] }
    var object = try JSONValue(parsing: entities.bytes).object()
    var groups: Set<ID<UserGroup>> = []
    for mention in try object.value("mentions").array() {
      var mention = try mention.object()
      if let group: ID<UserGroup> = try mention.optional("group_id") { groups.insert(group) }
    }
    return groups
  }
}
