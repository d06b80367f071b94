public import ParleyJSON

/// Relation of one user to another, visible only to the first.
public enum Relation: String, Sendable, Hashable, CaseIterable {
  /// Receives posts of the other user.
  case follow
  /// Hides messages of the other user until opened. The other user is not notified.
  case mute
  /// Prevents new conversations and following in both directions.
  case block
}

/// All relations of one user to another.
public struct UserRelations: Sendable, Hashable {
  /// The id of the other user.
  public var other: ID<User>
  /// The relations that the first user has set; empty for none.
  public var kinds: Set<Relation>
  /// Pending message requests from the other user.
  public var requests: Set<ID<Conversation>>

  /// The relations to another user, by default none.
  public init(_ other: ID<User>, _ kinds: Set<Relation> = [], requests: Set<ID<Conversation>> = []) {
    self.other = other
    self.kinds = kinds
    self.requests = requests
  }
}

extension UserRelations: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("user_id", other)
      for kind in Relation.allCases { json.field(kind.rawValue, kinds.contains(kind)) }
      json.field("requests", requests.sorted())
    }
  }
}

extension UserRelations: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let requests: [ID<Conversation>] = try object.read("requests")
    self.init(try object.read("user_id"), requests: Set(requests))
    for kind in Relation.allCases where try object.bool(kind.rawValue) { kinds.insert(kind) }
  }
}
