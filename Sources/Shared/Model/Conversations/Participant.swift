public import ParleyJSON

/// Somebody who takes part in a conversation.
public struct Participant: Sendable, Hashable {
  public var account: ID<Account>
  public var role: ParticipantRole

  public init(_ account: ID<Account>, _ role: ParticipantRole = .member) {
    self.account = account
    self.role = role
  }
}

extension Participant: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("user_id", account)
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
