// The content of any source, as values: the readers produce them, and `Community` writes them. Keys are ids in the source.

public import ParleyJSON

/// A program whose export can be imported. The raw values are stored.
public enum SourceKind: String, Sendable, CaseIterable {
  case discord, slack, discourse, parley
}

public struct SourceUser: Sendable, Hashable {
  public let key: String
  /// The name for sign-in in the source; the site may need another one.
  public var name: String
  public var displayName: String?
  public var bio = ""
  public var email: String?
  public var avatar: SourceContent?
  public var isBot = false
  public var createdAt: Int64?

  public init(_ key: String, name: String, displayName: String? = nil) {
    self.key = key
    self.name = name
    self.displayName = displayName
  }
}

/// A named set of users: a role of Discord, a group of Discourse.
public struct SourceGroup: Sendable, Hashable {
  public let key: String
  public var name: String
  /// In degrees; nil for the usual one.
  public var hue: Int?
  public var members: Set<String> = []

  public init(_ key: String, name: String, hue: Int? = nil) {
    self.key = key
    self.name = name
    self.hue = hue
  }
}

public struct SourceEmoji: Sendable, Hashable {
  public let key: String
  public let name: String
  public let picture: SourceContent

  public init(_ key: String, name: String, picture: SourceContent) {
    self.key = key
    self.name = name
    self.picture = picture
  }
}

public struct SourceForum: Sendable, Hashable {
  public let key: String
  public var title: String
  public var description = ""
  public var section: String?
  public var isArchived = false
  /// The time of the room, in milliseconds since 1970; nil if unknown.
  public var createdAt: Int64?
  /// The rights in an export of Parley.
  public var visibility: String?
  public var members: [SourceMember] = []

  public init(_ key: String, title: String) {
    self.key = key
    self.title = title
  }
}

public struct SourceMember: Sendable, Hashable {
  public let user: String
  public let role: String

  public init(_ user: String, role: String) {
    self.user = user
    self.role = role
  }
}

public struct SourceConversation: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable {
    case room, topic, direct, group, channel, feed
  }

  public let key: String
  public let kind: Kind
  /// The forum of a room or a topic.
  public var forum: String?
  public var title: String?
  /// The owner of a feed.
  public var owner: String?
  public var creator: String?
  public var createdAt: Int64?
  public var tags: [String] = []
  public var isPinned = false
  public var isLocked = false
  /// Participants of conversations besides rooms.
  public var participants: [SourceMember] = []
  /// The message that solved a topic.
  public var solvedBy: String?

  public init(_ key: String, _ kind: Kind, forum: String? = nil, title: String? = nil) {
    self.key = key
    self.kind = kind
    self.forum = forum
    self.title = title
  }
}

public struct SourceMessage: Sendable {
  /// `channel:id`.
  public let key: String
  public let conversation: String
  public let author: String
  /// In milliseconds since 1970.
  public let time: Int64
  public var text: SourceText
  public var replyTo: String?
  public var editedAt: Int64?
  public var revisions: [SourceRevision] = []
  public var files: [SourceAttachment] = []
  public var reactions: [SourceReaction] = []
  public var isPinned = false
  public var poll: SourcePoll?
  public var annotations: JSONRaw?
  public var isNotice = false
  public var repostOf: String?

  public init(_ key: String, in conversation: String, by author: String, at time: Int64, _ text: SourceText) {
    self.key = key
    self.conversation = conversation
    self.author = author
    self.time = time
    self.text = text
  }
}

/// An earlier text of a message.
public struct SourceRevision: Sendable, Hashable {
  public let text: String
  public let time: Int64

  public init(_ text: String, at time: Int64) {
    self.text = text
    self.time = time
  }
}

/// Markdown with mentions of users of the source.
public struct SourceText: Sendable, Hashable {
  public enum Part: Sendable, Hashable {
    case markdown(String)
    /// `name` is for a user that the source does not have.
    case mention(user: String, name: String)
  }

  public var parts: [Part] = []

  public init(_ parts: [Part] = []) { self.parts = parts }

  public init(_ markdown: String) { parts = markdown.isEmpty ? [] : [.markdown(markdown)] }

  public var isEmpty: Bool { parts.isEmpty }

  mutating func append(_ markdown: String) {
    guard !markdown.isEmpty else { return }
    if case .markdown(let last) = parts.last {
      parts[parts.count - 1] = .markdown(last + markdown)
    } else {
      parts.append(.markdown(markdown))
    }
  }

  /// Adds a paragraph.
  mutating func appendBlock(_ markdown: String) {
    guard !markdown.isEmpty else { return }
    append(isEmpty ? markdown : "\n\n" + markdown)
  }
}

public struct SourceReaction: Sendable, Hashable {
  /// The name of an action, such as `reaction:👍`.
  public let action: String
  public let users: [String]

  public init(_ action: String, by users: [String]) {
    self.action = action
    self.users = users
  }
}

public struct SourcePoll: Sendable, Hashable {
  public let options: [String]
  public let choices: Int
  public let isAnonymous: Bool
  public let closesAt: Int64?
  /// Users by option.
  public var votes: [(option: Int, user: String)] { pairs.map { ($0.option, $0.user) } }
  let pairs: [Vote]

  struct Vote: Sendable, Hashable {
    let option: Int
    let user: String
  }

  init(_ options: [String], choices: Int, isAnonymous: Bool, closesAt: Int64?, _ pairs: [Vote]) {
    self.options = options
    self.choices = choices
    self.isAnonymous = isAnonymous
    self.closesAt = closesAt
    self.pairs = pairs
  }
}

public struct SourceAttachment: Sendable, Hashable {
  public let key: String
  public let name: String
  public var description = ""
  public var mimeType: String?
  public var content: SourceContent

  public init(_ key: String, name: String, _ content: SourceContent) {
    self.key = key
    self.name = name
    self.content = content
  }
}

/// The position of the bytes of a file.
public enum SourceContent: Sendable, Hashable {
  /// A file in the folder or the archive of the source.
  case file(String)
  /// The export names the file only: its address in the source, which is not fetched.
  case missing(String)
}

/// All of a source but its messages.
public struct SourceOverview: Sendable {
  /// Names the exported site where ids are unique on one site only.
  public var site: String?
  public var users: [String: SourceUser] = [:]
  public var groups: [SourceGroup] = []
  public var emoji: [SourceEmoji] = []
  public var forums: [SourceForum] = []
  /// In the order of their creation on the site.
  public var conversations: [SourceConversation] = []
  public var messageCount = 0
  /// Files whose content the source has.
  public var fileCount = 0
  /// Numbers of things that are not imported, by reason.
  public var leftOut: [String: Int] = [:]
  /// Addresses of users and categories in the source: `u/ada`, `c/4`.
  public var addresses: [(address: String, kind: AddressKind, key: String)] = []

  public enum AddressKind: String, Sendable {
    case user, forum
  }

  mutating func leaveOut(_ reason: String, _ count: Int = 1) { leftOut[reason, default: 0] += count }
}

/// A part of the content of a source.
public enum SourceItem: Sendable {
  case message(SourceMessage)
  /// No further message follows in these conversations.
  case finished([String])
}

/// The content of an export. It is read twice: once to check all of it, before anything is changed, and once to write it.
public protocol ImportSource: AnyObject {
  var kind: SourceKind { get }

  /// Reads and checks all of the source.
  ///
  /// - Parameter check: called between steps; it cancels by throwing.
  func overview(_ check: (_ messages: Int) throws(ImportFault) -> Void) throws(ImportFault) -> SourceOverview

  /// Reads the messages, in the order of their times within a conversation. After `overview`.
  func messages(_ receive: (SourceItem) async throws(ImportFault) -> Void) async throws(ImportFault)

  /// The content of a file; nil if it is missing.
  func content(_ content: SourceContent) throws(ImportFault) -> (any ByteSource)?
}
