public import ParleyJSON
public import ParleyModel

/// What a user is about to say.
public struct Draft: Sendable, Hashable {
  public var text: String
  public var replyTo: Target?
  public var annotations: [Annotation] = []
  /// Files that the server has already.
  public var attachments: [ID<File>] = []
  /// Files that go before the message.
  public var files: [PendingFile] = []
  public var isMachineOnly = false

  public init(_ text: String = "", replyTo: Target? = nil, annotations: [Annotation] = []) {
    self.text = text
    self.replyTo = replyTo
    self.annotations = annotations
  }

  /// A message: one that the server has, or one that waits in the outbox.
  public enum Target: Sendable, Hashable {
    case message(ID<Message>)
    case unsent(String)
  }

  /// What a program hangs on a message.
  public struct Annotation: Sendable, Hashable {
    public var type: String
    /// A JSON object.
    public var value: JSONRaw

    public init(_ type: String, _ value: JSONRaw) {
      self.type = type
      self.value = value
    }

    public init(_ type: String, _ members: (inout JSONWriter) -> Void) {
      var json = JSONWriter()
      json.object(members)
      self.init(type, JSONRaw(trusted: json.bytes))
    }

    /// A place, by the type that other programs know.
    public static func location(_ name: String, latitude: Double, longitude: Double) -> Annotation {
      Annotation("net.app.core.checkin") { json in
        json.field("name", name)
        json.field("latitude", latitude)
        json.field("longitude", longitude)
      }
    }

    /// A file of the message that belongs within the text, by the type that other programs know.
    static func embedded(_ file: ID<File>, _ kind: PendingFile.Kind) -> Annotation {
      Annotation(embedded) { json in
        json.field("version", "1.0")
        json.field("type", kind == .image ? "photo" : kind == .video ? "video" : "rich")
        json.field("file_id", file)
      }
    }

    public static let embedded = "net.app.core.oembed"
  }
}

// MARK: Drafts that begin with somebody's message

extension Draft {
  /// To the author: their name stands in front, and the app goes on behind it.
  public static func reply(to message: Message, by author: UserSummary) -> Draft {
    Draft("@\(author.name ?? "") ", replyTo: .message(message.id))
  }

  /// To the author and all whom the message mentions, but oneself and whoever is left out.
  public static func replyToAll(
    _ message: Message, by author: UserSummary, me: UserSummary, except: Set<String> = []
  ) -> Draft {
    var names: [String] = []
    for name in [author.name].compactMap(\.self) + message.mentionedNames
    where name != me.name && !except.contains(name) && !names.contains(name) {
      names.append(name)
    }
    return Draft(names.map { "@\($0) " }.joined(), replyTo: .message(message.id))
  }

  public static func mention(_ user: UserSummary) -> Draft { Draft("@\(user.name ?? "") ") }

  /// What somebody has said, passed on with their name.
  public static func forward(_ message: Message, by author: UserSummary) -> Draft {
    Draft("» @\(author.name ?? "") \(message.content?.text ?? "")")
  }

  /// The same once more.
  public static func copy(_ message: Message) -> Draft {
    var draft = Draft(message.content?.text ?? "")
    draft.attachments = message.content?.attachments ?? []
    return draft
  }
}

extension Message {
  /// The files of it that belong within the text; an app shows the other attachments below it. The picture of a link
  /// (oembed.com §2.3.4.4) belongs to the link.
  public var embeddedFiles: [ID<File>] {
    guard let content, let annotations = content.annotations,
      let all = try? [Draft.Annotation](json: JSONValue(parsing: annotations.bytes))
    else { return [] }
    return all.filter { $0.type == Draft.Annotation.embedded }.compactMap { embedded in
      guard let value = try? JSONValue(parsing: embedded.value.bytes), var object = try? value.object(),
        (try? object.string("type")) != "link", let file = try? object.optional("file_id") as ID<File>?
      else { return nil }
      // What somebody only says to be a file of it is none.
      return content.attachments.contains(file) ? file : nil
    }
  }

  fileprivate var mentionedNames: [String] {
    guard let entities = content?.entities, let value = try? JSONValue(parsing: entities.bytes),
      var object = try? value.object()
    else { return [] }
    return ((try? object.value("mentions").array()) ?? []).compactMap { mention in
      guard var mention = try? mention.object(), (try? mention.optional("user_id") as ID<User>?) ?? nil != nil else {
        return nil
      }
      return try? mention.string("name")
    }
  }
}

// MARK: As it is kept

extension Draft: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("text", text)
      if let replyTo { json.field("reply_to", replyTo) }
      if !annotations.isEmpty { json.field("annotations", annotations) }
      if !attachments.isEmpty { json.field("attachments", attachments) }
      if !files.isEmpty { json.field("files", files) }
      if isMachineOnly { json.field("machine_only", true) }
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.string("text"), replyTo: try object.optional("reply_to"))
    annotations = try object.optional("annotations") ?? []
    attachments = try object.optional("attachments") ?? []
    files = try object.optional("files") ?? []
    isMachineOnly = try object.optional("machine_only") ?? false
  }
}

extension Draft.Annotation: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("type", type)
      json.field("value", value)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.string("type"), try object.raw("value").compact)
  }
}

extension [Draft.Annotation] {
  /// All of them, as they are kept and sent: for a change that is gathered step by step.
  public var json: JSONRaw {
    var json = JSONWriter()
    json.value(self)
    return JSONRaw(trusted: json.bytes)
  }
}

extension Draft.Target: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      switch self {
      case .message(let id): json.field("message_id", id)
      case .unsent(let id): json.field("unsent", id)
      }
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    if let id: ID<Message> = try object.optional("message_id") {
      self = .message(id)
    } else {
      self = .unsent(try object.string("unsent"))
    }
  }
}
