import ParleyJSON
import ParleyModel

/// What is still to be done for somebody who has gone, and how far it has come.
struct Departure: Sendable {
  let account: ID<Account>
  let actor: ID<Account>
  /// Whether what they wrote and did goes too.
  let isErasure: Bool
  var stage = Stage.relations
  /// The last message that was looked at.
  var lastMessage = 0
  /// How many messages were.
  var messages = 0

  /// In this order. Those after `notes` are for an erasure.
  enum Stage: String, CaseIterable {
    case relations, conversations, forums, notes, actions, messages
  }

  init(of account: ID<Account>, isErasure: Bool, by actor: ID<Account>) {
    self.account = account
    self.isErasure = isErasure
    self.actor = actor
  }

  /// All that it goes through.
  var stages: [Stage] { Stage.allCases.filter { isErasure || $0 != .actions && $0 != .messages } }

  /// Nil when all is done.
  var nextStage: Stage? {
    let stages = stages
    return stages.firstIndex(of: stage).flatMap { place in stages.dropFirst(place + 1).first }
  }
}

extension Departure: JSONWritable {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("account", account)
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
    account = try object.read("account")
    actor = try object.read("actor")
    isErasure = try object.bool("erasure")
    stage = try object.word("stage")
    lastMessage = try object.int("last_message")
    messages = try object.int("messages")
  }
}
