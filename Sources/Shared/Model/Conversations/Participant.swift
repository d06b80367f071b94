public import ParleyJSON

/// Participant of a conversation.
public struct Participant: Sendable, Hashable {
  public var user: ID<User>
  public var role: ParticipantRole

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
