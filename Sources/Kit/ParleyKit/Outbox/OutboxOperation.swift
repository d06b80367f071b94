public import ParleyJSON
public import ParleyModel

/// A change that the server has not yet confirmed. It is saved before the first attempt. It is removed when the server has
/// processed it; if it fails for good, it stays for the user to retry or cancel.
public struct OutboxOperation: Sendable, Hashable {
  /// The name of an operation, which is the idempotency key of its request.
  public typealias Name = String

  /// The `client_id` of a sent message: retries don't create duplicates.
  public let id: Name
  /// The position among all operations.
  public internal(set) var order: Int
  /// The conversation of the operation; `ID(0)` until the server has created it.
  public internal(set) var conversation: ID<Conversation>
  /// The work of the operation.
  public internal(set) var work: Work
  /// The progress of the operation.
  public internal(set) var state = State.pending
  /// The number of attempts.
  public internal(set) var attempts = 0
  /// An attempt has begun and has no result yet.
  var isUnderWay = false
  /// An earlier attempt had no response, so the server may have processed it.
  var mayBeSent = false
  /// Milliseconds since 1970.
  public let createdAt: Int64

  /// Kinds of operations with their content.
  public enum Work: Sendable, Hashable {
    /// Sends a message.
    case send(Draft)
    /// Replaces the text of a message.
    case edit(Draft.Target, text: String)
    /// With `andFiles`, files that are not used elsewhere are deleted, too.
    case delete(Draft.Target, andFiles: Bool)
    /// Sets or removes an action on a message.
    case action(Draft.Target, type: ActionType, isSet: Bool)
    /// Moves the read position to a message.
    case read(ID<Message>)
    /// With the body of the request, which has the operation's id as `client_id`.
    case createConversation(JSONRaw)
    /// With the body of the request.
    case updateConversation(JSONRaw)
    /// Ends the user's participation, or declines the request to it.
    case leaveConversation
    /// Deletes the conversation for all participants.
    case deleteConversation
  }

  /// Kinds of operations.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Operations on messages.
    case send, edit, delete
    /// Sets or removes an action.
    case action = "act"
    /// Moves the read position.
    case read
    /// Creates a conversation.
    case createConversation = "create_conversation"
    /// Changes a conversation.
    case updateConversation = "update_conversation"
    /// Ends the user's participation, or declines a request.
    case leaveConversation = "leave_conversation"
    /// Deletes a conversation.
    case deleteConversation = "delete_conversation"

    /// Whether it sends or changes a message.
    public var isOfMessage: Bool {
      switch self {
      case .send, .edit, .delete, .action: true
      case .read, .createConversation, .updateConversation, .leaveConversation, .deleteConversation: false
      }
    }
  }

  /// States of an operation.
  public enum State: Sendable, Hashable {
    /// Waits for its turn or its next attempt.
    case pending
    /// The last attempt has failed. A temporary fault is retried, any other waits for the user.
    case failed(ClientFault)
  }

  init(_ id: String, order: Int, _ conversation: ID<Conversation>, _ work: Work, createdAt: Int64) {
    self.id = id
    self.order = order
    self.conversation = conversation
    self.work = work
    self.createdAt = createdAt
  }

  /// The kind of its work.
  public var kind: Kind {
    switch work {
    case .send: .send
    case .edit: .edit
    case .delete: .delete
    case .action: .action
    case .read: .read
    case .createConversation: .createConversation
    case .updateConversation: .updateConversation
    case .leaveConversation: .leaveConversation
    case .deleteConversation: .deleteConversation
    }
  }

  /// The reason of the failure.
  public var failure: ClientFault? {
    switch state {
    case .pending: nil
    case .failed(let fault): fault
    }
  }

  /// The message that it sends; nil for another kind of operation.
  public var draft: Draft? {
    switch work {
    case .send(let draft): draft
    case .edit, .delete, .action, .read, .createConversation, .updateConversation, .leaveConversation,
      .deleteConversation:
      nil
    }
  }

  /// The message that the operation refers to.
  public var target: Draft.Target? {
    switch work {
    case .send(let draft): draft.replyTo
    case .edit(let target, _), .delete(let target, _), .action(let target, _, _): target
    case .read(let message): .message(message)
    case .createConversation, .updateConversation, .leaveConversation, .deleteConversation: nil
    }
  }

  /// The operation that must be sent first.
  var dependsOn: String? {
    switch target {
    case .unsent(let id): id
    case .message, nil: nil
    }
  }

  /// Changes the target to the message that `dependsOn` has created.
  mutating func retarget(at message: ID<Message>) {
    let target = Draft.Target.message(message)
    switch work {
    case .send(var draft):
      draft.replyTo = target
      work = .send(draft)
    case .edit(_, let text): work = .edit(target, text: text)
    case .delete(_, let andFiles): work = .delete(target, andFiles: andFiles)
    case .action(_, let type, let isSet): work = .action(target, type: type, isSet: isSet)
    case .read, .createConversation, .updateConversation, .leaveConversation, .deleteConversation: break
    }
  }
}

// MARK: JSON

extension OutboxOperation: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", id)
      json.field("order", order)
      if conversation.number != 0 { json.field("conversation_id", conversation) }
      json.field("kind", kind.rawValue)
      if let target { json.field("target", target) }
      switch work {
      case .send(let draft): json.field("draft", draft)
      case .edit(_, let text): json.field("text", text)
      case .delete(_, let andFiles): json.field("and_files", andFiles)
      case .action(_, let type, let isSet):
        json.field("type", type.name)
        json.field("set", isSet)
      case .createConversation(let body), .updateConversation(let body): json.field("body", body)
      case .read, .leaveConversation, .deleteConversation: break
      }
      json.field("failure", failure)
      json.field("attempts", attempts)
      json.field("under_way", isUnderWay)
      if mayBeSent { json.field("may_be_sent", true) }
      json.field("created_at", Timestamp(createdAt))
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let kind: Kind = try object.word("kind")
    let createdAt: Timestamp = try object.read("created_at")
    self.init(
      try object.string("id"), order: try object.int("order"), try Self.conversation(kind, &object),
      try Work(kind, &object, of: value), createdAt: Int64(createdAt.milliseconds))
    if let fault: ClientFault = try object.optional("failure") { state = .failed(fault) }
    attempts = try object.int("attempts", in: 0...Int.max)
    isUnderWay = try object.bool("under_way")
    mayBeSent = try object.optional("may_be_sent") ?? false
  }
}

extension OutboxOperation {
  static func conversation(_ kind: Kind, _ object: inout JSONObject) throws(JSONError) -> ID<Conversation> {
    kind == .createConversation ? ID(0) : try object.read("conversation_id")
  }
}

extension OutboxOperation.Work {
  /// - Returns: whether all of it can be read, too. Of a message it may be a part.
  static func salvaged(
    _ kind: OutboxOperation.Kind, _ object: inout JSONObject, of value: JSONValue
  ) throws(JSONError) -> (work: Self, isWhole: Bool) {
    do { return (try Self(kind, &object, of: value), true) } catch {
      guard kind == .send else { throw error }
      return (.send(try Draft(salvaging: object.value("draft"))), false)
    }
  }

  fileprivate init(_ kind: OutboxOperation.Kind, _ object: inout JSONObject, of value: JSONValue) throws(JSONError) {
    switch kind {
    case .send: self = .send(try object.read("draft"))
    case .edit: self = .edit(try object.read("target"), text: try object.string("text"))
    case .delete: self = .delete(try object.read("target"), andFiles: try object.bool("and_files"))
    case .action:
      let name = try object.string("type")
      self = .action(
        try object.read("target"), type: ActionType(named: name), isSet: try object.bool("set"))
    case .read:
      guard case .message(let message) = try object.read("target") as Draft.Target else { throw value.error(.invalid) }
      self = .read(message)
    case .createConversation: self = .createConversation(try object.raw("body"))
    case .updateConversation: self = .updateConversation(try object.raw("body"))
    case .leaveConversation: self = .leaveConversation
    case .deleteConversation: self = .deleteConversation
    }
  }
}
