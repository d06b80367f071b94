import ParleyJSON
import ParleyModel

/// Progress of the job that removes the data of a departed or erased user.
struct Departure: Sendable {
  let user: ID<User>
  let actor: ID<User>
  /// Whether messages and actions are erased too.
  let isErasure: Bool
  /// Whether the user's files are removed at once, wherever they are used.
  let destroysFiles: Bool
  var stage = Stage.relations
  /// The last message processed.
  var lastMessage = 0
  /// Number of messages processed.
  var messages = 0
  /// The last open report whose context was processed.
  var lastReport = 0

  /// In execution order. From `actions` on they run for an erasure only. A report copies messages as long as there are any, so
  /// the copies go last.
  enum Stage: String, CaseIterable {
    case relations, conversations, forums, notes, actions, messages
    case reports = "report_copies"
    case files

    /// The stage of reports of older versions, before `actions`.
    static let earlyReports = "reports"

    fileprivate var isOfErasure: Bool {
      switch self {
      case .relations, .conversations, .forums, .notes: false
      case .actions, .messages, .reports, .files: true
      }
    }
  }

  init(of user: ID<User>, isErasure: Bool, destroysFiles: Bool = false, by actor: ID<User>) {
    self.user = user
    self.isErasure = isErasure
    self.destroysFiles = destroysFiles
    self.actor = actor
  }

  /// Stages of this departure.
  var stages: [Stage] {
    Stage.allCases.filter { (isErasure || !$0.isOfErasure) && (destroysFiles || $0 != .files) }
  }

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
      json.field("destroys_files", destroysFiles)
      json.field("stage", stage.rawValue)
      json.field("last_message", lastMessage)
      json.field("messages", messages)
      json.field("last_report", lastReport)
    }
  }
}

extension Departure: JSONReadable {
  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    user = try object.read("account")
    actor = try object.read("actor")
    isErasure = try object.bool("erasure")
    stage = try object.string("stage") == Stage.earlyReports ? .actions : object.word("stage")
    lastMessage = try object.int("last_message")
    messages = try object.int("messages")
    // Jobs of older versions have none.
    lastReport = try object.optional("last_report") ?? 0
    destroysFiles = try object.optional("destroys_files") ?? false
  }
}
