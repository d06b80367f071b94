import ParleyJSON
import ParleyModel

/// Progress of the job that removes the data of a departed or erased user.
struct Departure: Sendable {
  let user: ID<User>
  let actor: ID<User>
  /// Whether messages and actions are erased too.
  let isErasure: Bool
  var stage = Stage.relations
  /// The last message processed.
  var lastMessage = 0
  /// Number of messages processed.
  var messages = 0

  /// In execution order. `actions` and `messages` run for an erasure only.
  enum Stage: String, CaseIterable {
    case relations, conversations, forums, notes, actions, messages
  }

  init(of user: ID<User>, isErasure: Bool, by actor: ID<User>) {
    self.user = user
    self.isErasure = isErasure
    self.actor = actor
  }

  /// Stages of this departure.
  var stages: [Stage] { Stage.allCases.filter { isErasure || $0 != .actions && $0 != .messages } }

  /// Nil after the last stage.
  var nextStage: Stage? {
    let stages = stages
    return stages.firstIndex(of: stage).flatMap { index in stages.dropFirst(index + 1).first }
  }
}

extension Departure: JSONWritable {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("account", user)
      json.field("actor", actor)
      json.field("erasure", isErasure)
      json.field("stage", stage.rawValue)
      json.field("last_message", lastMessage)
      json.field("messages", messages)
    }
  }
}

extension Departure: JSONReadable {
  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    user = try object.read("account")
    actor = try object.read("actor")
    isErasure = try object.bool("erasure")
    stage = try object.word("stage")
    lastMessage = try object.int("last_message")
    messages = try object.int("messages")
  }
}
