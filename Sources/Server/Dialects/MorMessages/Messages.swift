import API
import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension MorMessagesCall {
  /// Messages of a room, newest first.
  func listMessages() async throws -> Response {
    let range = try range()
    let forum = try forum(named: parameter("uuid"))
    var request = MessageRequest()
    request.includesDeleted = false
    if let name = range.before {
      // The list refuses a message of another room in the same way.
      guard let before: ID<Message> = try view.id(.message, named: name) else {
        throw Refusal.invalid("before", .mismatch)
      }
      request.window = .between(after: nil, before: before)
    }
    var listed: [MorMessagesMessage] = []
    var (skipped, bytes) = (0, 0)
    reading: while listed.count < range.size {
      request.limit = min(range.offset - skipped + range.size - listed.count, MessageQuery.maxMessages)
      let page = try await view.listMessages(in: forum.room, request, for: caller)
      let messages = page.messages.map(\.message).filter(\.isInMorMessages)
      let rest = Array(messages.dropFirst(range.offset - skipped))
      skipped += messages.count - rest.count
      for seen in try view.morMessages(rest, in: forum.id, for: caller) {
        if let time = range.greaterThan, seen.time <= time { break reading }
        // An answer ends early with long messages, like a page of the API.
        bytes += seen.message.size
        guard listed.count < range.size, listed.isEmpty || bytes <= ListPage<MessageView>.maxBytes else {
          break reading
        }
        listed.append(seen)
      }
      guard let older = page.page.older else { break }
      request.window = older
      // Other requests of the event loop have a turn.
      await Task.yield()
    }
    return .morMessages(list: listed)
  }

  /// Posts into the room of the forum that the body names, else of the one in the path.
  func postMessage() async throws -> Response {
    var body = try await body()
    let name = try body.text("forumUuid") ?? ""
    let forum = try forum(named: name.isEmpty ? parameter("uuid") : name)
    let (picture, uuid) = (try body.imageURL(), try body.suppliedUUID())
    let text = try body.text("text") ?? ""
    var draft = MessageDraft(text: text.isEmpty ? picture ?? "" : text, clientID: uuid.map(Self.clientID))
    draft.annotations = try picture.map { picture throws(JSONError) in
      try MorMessagesMessage.annotations(for: picture)
    }
    let posted =
      if let uuid {
        try await context.community.postMessage(draft, named: uuid, in: forum.room, by: caller)
      } else {
        try await context.community.postMessage(draft, in: forum.room, by: caller)
      }
    if posted.isPrivate { context.refund(.sending) }
    var json = JSONWriter()
    for seen in try view.morMessages([posted.message.message], in: forum.id, for: caller) { json.value(seen) }
    return .morMessages(json, posted.isNew ? .created : .ok)
  }

  /// The key by which a repeated request finds its message.
  private static func clientID(_ uuid: String) -> String { "mormessages:\(uuid.lowercased())" }
}
