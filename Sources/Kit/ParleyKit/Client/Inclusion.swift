public import ParleyJSON
public import ParleyModel

/// Things that a response brings along, each once, as the caller may see them.
///
///     let page = try await client.send(.listMessages(in: room).including(.users))
///     let name = page.included?.user(page.elements[0].message.author)?.summary.displayName
public struct Inclusion: OptionSet, Sendable, Hashable, CustomStringConvertible {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The users that the response names.
  public static let users = Inclusion(rawValue: 1)
  /// The files that the response names.
  public static let files = Inclusion(rawValue: 2)
  /// The posts of the reposts in the response, with their users and files.
  public static let messages = Inclusion(rawValue: 4)
  /// Users, files and posts.
  public static let all: Inclusion = [.users, .files, .messages]

  /// The value of the query `include`.
  public var description: String {
    [(Self.users, "users"), (.files, "files"), (.messages, "messages")].filter { contains($0.0) }.map(\.1)
      .joined(separator: ",")
  }
}

/// The users, files and posts of a response to `Request.including`.
public struct IncludedObjects: JSONReadable, Sendable {
  /// The users, each once.
  public let users: [Resource<User>]
  /// The files, each once.
  public let files: [Resource<File>]
  /// The posts that reposts in the response name, each once.
  public let messages: [Resource<MessageView>]

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    users = try object.optional("users") ?? []
    files = try object.optional("files") ?? []
    messages = try object.optional("messages") ?? []
  }

  /// Nil for a user that the response does not name, or that the caller may not see.
  public func user(_ id: ID<User>) -> User? { users.first { $0.summary.id == id }?.value }

  /// Nil for a file that the response does not name, or that the caller may not read.
  public func file(_ id: ID<File>) -> File? { files.first { $0.id == id }?.value }

  /// Nil for a message that no repost in the response names, or that the caller may not read.
  public func message(_ id: ID<Message>) -> MessageView? { messages.first { $0.message.id == id }?.value }
}

extension Resource {
  /// The users, files and posts of a single object; nil unless the request had `including`.
  public var included: IncludedObjects? {
    Fact(representation).member("included")
  }
}
