public import JSON

/// An event as it reaches those who follow its stream: what happened, and what it is about as it is now. The same for
/// everyone who sees it.
public struct DeliveredEvent: Sendable {
  public var event: Event
  public var content: Content

  public init(_ event: Event, _ content: Content) {
    self.event = event
    self.content = content
  }

  public enum Content: Sendable {
    case message(Message)
    /// The public marks on a message.
    case marks(ID<Message>, [Message.ActionCount])
    /// One's own stars, in one's own stream.
    case star(ID<Message>, isSet: Bool)
    /// What waits for the person; nil where it has gone.
    case inbox(InboxEntry?)
    /// Something else, to be asked for by its id.
    case thing
    /// About a message from before the viewer's history: only its place is told, so that offsets stay whole.
    case hidden
  }
}

extension DeliveredEvent: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("event", isHidden ? "hidden" : event.kind.name)
      json.field("id", String(event.id))
      json.field("stream", event.stream.description)
      json.field("offset", event.offset)
      if isHidden { return }
      json.field("at", Timestamp(event.at))
      json.field("actor_id", event.actor == 0 ? nil : ID<Account>(event.actor))
      writeContent(to: &json)
    }
  }

  private var isHidden: Bool {
    switch content {
    case .hidden: true
    case .message, .marks, .star, .inbox, .thing: false
    }
  }

  private func writeContent(to json: inout JSONWriter) {
    switch content {
    case .hidden: break
    case .message(let message): json.field("data", message)
    case .marks(let message, let actions):
      json.object("data") { json in
        json.field("message_id", message)
        json.object("actions") { json in
          for action in actions { json.object(action.type) { json in json.field("count", action.count) } }
        }
      }
    case .star(let message, let isSet):
      json.object("data") { json in
        json.field("message_id", message)
        json.object("actions") { json in
          if isSet { json.object("star") { json in json.field("count", 1) } }
        }
      }
    case .inbox(let entry?): json.field("data", entry)
    case .inbox(nil): json.object("data") { json in json.field("id", String(event.subject)) }
    case .thing:
      json.object("data") { json in
        json.field("id", String(event.subject))
        if event.revision > 0 { json.field("revision", event.revision) }
      }
    }
  }
}

extension EventStream: LosslessStringConvertible {
  /// `site`, `user:7`, `forum:3` or `conversation:9`.
  public init?(_ text: String) {
    if text == "site" {
      self = .site
      return
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { return nil }
    switch parts[0] {
    case "user":
      guard let id = ID<Account>(parts[1]) else { return nil }
      self = .user(id)
    case "forum":
      guard let id = ID<Forum>(parts[1]) else { return nil }
      self = .forum(id)
    case "conversation":
      guard let id = ID<Conversation>(parts[1]) else { return nil }
      self = .conversation(id)
    default: return nil
    }
  }
}
