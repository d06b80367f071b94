public import ParleyJSON

/// Participant of a conversation.
public struct Participant: Sendable, Hashable {
  /// The id of the user.
  public var user: ID<User>
  /// The role: readers can't write, admins manage the conversation.
  public var role: ParticipantRole

  /// A participant, as a member unless a role is given.
  public init(_ user: ID<User>, _ role: ParticipantRole = .member) {
    self.user = user
    self.role = role
  }
}

extension Participant: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("user_id", user)
      json.field("role", role.rawValue)
    }
  }
}

extension Participant: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.read("user_id"), try object.word("role"))
  }
}
