// The rows of a client's store: one per object, with the event up to which it is current.

public import ParleyJSON

extension ReplicaMessage: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("message", message)
      json.field("mine", mine.map { $0.sorted() })
      if !vote.isEmpty { json.field("vote", vote) }
      json.field("as_of", asOf)
      json.field("actions_as_of", actionsAsOf)
      if lastActionEvent > 0 { json.field("last_action_event", lastActionEvent) }
    }
  }
}

extension ReplicaMessage: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let mine: [String]? = try object.optional("mine")
    // Rows of an earlier version have no `actions_as_of`.
    self.init(
      message: try object.read("message"), mine: mine.map { Set($0) }, asOf: try object.int("as_of"),
      actionsAsOf: try object.optional("actions_as_of") ?? 0)
    vote = try object.optional("vote") ?? []
    lastActionEvent = try object.optional("last_action_event") ?? 0
  }
}

extension ReplicaForum: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("forum", forum)
      json.field("role", role?.rawValue)
      json.field("group_access", groupAccess?.rawValue)
      json.field("as_of", asOf)
    }
  }
}

extension ReplicaForum: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      forum: try object.read("forum"), role: try object.optionalWord("role"),
      groupAccess: try object.optionalWord("group_access"), asOf: try object.int("as_of"))
  }
}

/// Without its messages, which have rows of their own.
extension ReplicaConversation: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("conversation", conversation)
      if let participation {
        json.object("participation") { json in participation.writeMembers(to: &json) }
      }
      json.field("own", isOwn)
      json.object("read_position") { json in readPosition.writeMembers(to: &json) }
      json.field("unread", unread)
      json.array("receipts") { json in
        for (user, readPosition) in receipts.sorted(by: { $0.key < $1.key }) {
          json.object { json in
            json.field("user_id", user)
            readPosition.writeMembers(to: &json)
          }
        }
      }
      json.field("as_of", asOf)
      json.field("as_of_offset", asOfOffset)
    }
  }
}

extension ReplicaConversation: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.read("conversation"), asOf: try object.int("as_of"))
    participation =
      try object.optional("participation") { value throws(JSONError) in
        var members = try value.object()
        return try OwnConversation.Participation(&members)
      } ?? nil
    isOwn = try object.bool("own")
    var readPosition = try object.object("read_position")
    self.readPosition = try ReadPosition(&readPosition)
    unread = try object.optional("unread")
    for receipt in try object.value("receipts").array() {
      var receipt = try receipt.object()
      receipts[try receipt.read("user_id")] = try ReadPosition(&receipt)
    }
    asOfOffset = try object.int("as_of_offset")
  }
}
