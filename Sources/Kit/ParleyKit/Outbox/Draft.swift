public import ParleyJSON
public import ParleyModel

/// An unsent message.
public struct Draft: Sendable, Hashable {
  /// Markdown.
  public var text: String
  /// The message that this one replies to.
  public var replyTo: Target?
  /// Data of programs.
  public var annotations: [Annotation] = []
  /// Uploaded files.
  public var attachments: [ID<File>] = []
  /// Descriptions of the uploaded files, in their order; later ones have none.
  public var descriptions: [String] = []
  /// Files to upload before the message is posted.
  public var files: [PendingFile] = []
  /// The text is its question.
  public var poll: PollDraft?
  /// Buttons, only in a bot's message.
  public var buttons: [MessageButton] = []
  /// Whether no app displays the message.
  public var isMachineOnly = false

  /// A draft with a text.
  public init(_ text: String = "", replyTo: Target? = nil, annotations: [Annotation] = []) {
    self.text = text
    self.replyTo = replyTo
    self.annotations = annotations
  }

  /// A message on the server or in the outbox.
  public enum Target: Sendable, Hashable {
    /// A message of the server.
    case message(ID<Message>)
    /// An unsent message, by the name of its operation.
    case unsent(String)
  }

  /// A program's data on a message.
  public struct Annotation: Sendable, Hashable {
    /// A name in reverse-domain notation.
    public var type: String
    /// A JSON object.
    public var value: JSONRaw

    /// An annotation with a JSON object.
    public init(_ type: String, _ value: JSONRaw) {
      self.type = type
      self.value = value
    }

    /// An annotation whose members are written by a closure.
    public init(_ type: String, _ members: (inout JSONWriter) -> Void) {
      var json = JSONWriter()
      json.object(members)
      self.init(type, JSONRaw(trusted: json.bytes))
    }

    /// A location, in the annotation type that other programs use.
    public static func location(_ name: String, latitude: Double, longitude: Double) -> Annotation {
      Annotation("net.app.core.checkin") { json in
        json.field("name", name)
        json.field("latitude", latitude)
        json.field("longitude", longitude)
      }
    }

    /// A file embedded in the text, in the annotation type that other programs use.
    static func embedded(_ file: ID<File>, _ kind: PendingFile.Kind) -> Annotation {
      Annotation(embedded) { json in
        json.field("version", "1.0")
        json.field("type", kind == .image ? "photo" : kind == .video ? "video" : "rich")
        json.field("file_id", file)
      }
    }

    /// The type of annotations that embed a file or a link preview.
    public static let embedded = "net.app.core.oembed"
  }
}

// MARK: Drafts from a message

extension Draft {
  /// A reply that begins with a mention of the author. A reply to a repost answers its post, in the conversation of the post.
  ///
  /// - Parameters:
  ///   - author: the author of the message; of a repost that of the post.
  ///   - reposter: the user of the repost, who is mentioned after the author.
  public static func reply(
    to message: Message, by author: UserSummary, repostedBy reposter: UserSummary? = nil
  ) -> Draft {
    let names = [author.name] + (reposter?.name == author.name ? [] : [reposter?.name])
    return Draft(names.compactMap { $0.map { "@\($0) " } }.joined(), replyTo: .message(message.post))
  }

  /// A reply that mentions the author and all mentioned users, except the current user and `except`. A repost mentions none:
  /// take its post.
  public static func replyToAll(
    _ message: Message, by author: UserSummary, me: UserSummary, except: Set<String> = []
  ) -> Draft {
    var names: [String] = []
    for name in [author.name].compactMap(\.self) + message.mentionedNames
    where name != me.name && !except.contains(name) && !names.contains(name) {
      names.append(name)
    }
    return Draft(names.map { "@\($0) " }.joined(), replyTo: .message(message.post))
  }

  /// A draft that begins with a mention of the user.
  public static func mention(_ user: UserSummary) -> Draft { Draft("@\(user.name ?? "") ") }

  /// The text of the message, quoted with its author's name.
  public static func forward(_ message: Message, by author: UserSummary) -> Draft {
    Draft("» @\(author.name ?? "") \(message.content?.text ?? "")")
  }

  /// The same text, annotations and attachments. Files of another user are uploaded again as the current user's, and
  /// embedded files are embedded by their new ids.
  public static func copy(_ message: Message, by me: ID<User>) -> Draft {
    guard let content = message.content else { return Draft() }
    var draft = Draft(content.text, annotations: content.annotationList)
    draft.isMachineOnly = message.isMachineOnly
    if message.author == me {
      draft.attachments = content.attachments
      draft.descriptions = content.descriptions
      return draft
    }
    let embedded = draft.annotations.compactMap(\.embeddedFile)
    draft.annotations.removeAll { $0.embeddedFile.map { content.attachments.contains($0.id) } ?? false }
    draft.files = content.attachments.map { id in
      var file = PendingFile(copying: id, embeddedAs: embedded.first { $0.id == id }?.kind)
      file.description = content.description(of: id)
      return file
    }
    return draft
  }
}

extension Message {
  /// The message that replies and actions on this one go to: of a repost its post, which has the text. The server refuses both
  /// on the repost.
  public var post: ID<Message> { content?.repostOf ?? id }

  /// The files embedded in the text. An app shows the other attachments below it. The picture of a link
  /// (oembed.com §2.3.4.4) is part of the link preview.
  public var embeddedFiles: [ID<File>] {
    guard let content else { return [] }
    // An annotation can name a file that is not attached.
    return content.annotationList.compactMap(\.embeddedFile?.id).filter(content.attachments.contains)
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

extension Message.Content {
  fileprivate var annotationList: [Draft.Annotation] {
    guard let annotations else { return [] }
    return (try? [Draft.Annotation](json: JSONValue(parsing: annotations.bytes))) ?? []
  }
}

extension Draft.Annotation {
  /// The file that the annotation embeds in the text. The picture of a link is none.
  fileprivate var embeddedFile: (id: ID<File>, kind: PendingFile.Kind)? {
    guard type == Self.embedded, let value = try? JSONValue(parsing: value.bytes), var object = try? value.object(),
      let type = try? object.string("type"), type != "link", let file = try? object.optional("file_id") as ID<File>?
    else { return nil }
    return (file, type == "photo" ? .image : type == "video" ? .video : .other)
  }
}

// MARK: JSON

extension Draft: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("text", text)
      if let replyTo { json.field("reply_to", replyTo) }
      if !annotations.isEmpty { json.field("annotations", annotations) }
      if !attachments.isEmpty { json.field("attachments", attachments) }
      if !descriptions.isEmpty { json.field("descriptions", descriptions) }
      if !files.isEmpty { json.field("files", files) }
      if let poll { json.field("poll", poll) }
      if !buttons.isEmpty { json.field("buttons", buttons) }
      if isMachineOnly { json.field("machine_only", true) }
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.string("text"), replyTo: try object.optional("reply_to"))
    annotations = try object.optional("annotations") ?? []
    attachments = try object.optional("attachments") ?? []
    descriptions = try object.optional("descriptions") ?? []
    files = try object.optional("files") ?? []
    poll = try object.optional("poll")
    buttons = try object.optional("buttons") ?? []
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
  /// The stored and sent form, for an edit that is built step by step.
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
