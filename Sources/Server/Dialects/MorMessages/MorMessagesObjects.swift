// The objects of MorMessages.

import Community
import ParleyJSON
import ParleyModel
import Storage
import Web

/// A forum of the site.
struct MorMessagesForum: JSONWritable {
  let forum: Forum
  let uuid: String
  let createdBy: String
  let changedBy: String
  let changedAt: MorMessagesTime
  /// The public origin, for the address of an uploaded icon.
  let origin: String

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", forum.id.number)
      json.field("uuid", uuid)
      json.field("createdTime", MorMessagesTime(milliseconds: forum.createdAt))
      json.field("modifiedTime", changedAt)
      json.field("createdByUid", createdBy)
      json.field("modifiedByUid", changedBy)
      json.field("title", forum.title)
      json.field("description", forum.about.isEmpty ? nil : forum.about)
      json.field("imageUrl", forum.icon == nil ? forum.iconURL : "\(origin)/api/v1/forums/\(forum.id)/icon")
    }
  }
}

/// A message of a room.
struct MorMessagesMessage: JSONWritable {
  let message: Message
  let uuid: String
  let forum: String
  let author: String
  let time: MorMessagesTime

  /// The annotation with the picture of a message.
  static let pictureType = "com.mormessages.image"

  func write(to json: inout JSONWriter) {
    guard case .live(let content) = message.state else { return json.null() }
    let picture = Self.picture(in: content.annotations)
    json.object { json in
      json.field("id", message.id.number)
      json.field("uuid", uuid)
      json.field("createdTime", time)
      json.field("modifiedTime", time)
      json.field("createdByUid", author)
      json.field("modifiedByUid", author)
      // A message with a picture alone has its address as the text.
      json.field("text", content.text.isEmpty || content.text == picture ? nil : content.text)
      json.field("imageUrl", picture)
      json.field("forumUuid", forum)
    }
  }

  /// The annotation for a picture.
  static func annotations(for picture: String) throws(JSONError) -> Annotations {
    var json = JSONWriter()
    json.array { json in
      json.object { json in
        json.field("type", pictureType)
        json.object("value") { json in json.field("url", picture) }
      }
    }
    return try Annotations(stored: JSONRaw(trusted: json.bytes))
  }

  /// The address of the picture; nil without one.
  private static func picture(in annotations: JSONRaw?) -> String? {
    guard let annotations else { return nil }
    do throws(JSONError) {
      for annotation in try JSONValue(parsing: annotations.bytes).array() {
        var annotation = try annotation.object()
        guard try annotation.string("type") == pictureType else { continue }
        var value = try annotation.object("value")
        return try value.optional("url")
      }
    } catch {
      // Another program may attach another value under this name.
    }
    return nil
  }
}

/// A subscription, with the members that the server wrote and those that the client for iOS reads.
struct MorMessagesSubscriptionAnswer: JSONWritable {
  let subscription: MorMessagesSubscription
  let user: String

  func write(to json: inout JSONWriter) {
    let end = MorMessagesTime(milliseconds: subscription.expiresAt)
    json.object { json in
      json.field("subscriptionId", subscription.id)
      json.field("userIdentity", user)
      json.field("topicId", subscription.topic)
      json.field("expiration", end)
      json.field("expirationTime", end)
      json.field("durationMillis", MorMessagesSubscription.lifetime)
      json.field("duration", MorMessagesSubscription.lifetime)
    }
  }
}

extension CommunityView {
  /// The names of users, as the caller may see them. A user without a visible name has its id.
  private func names(of users: Set<ID<User>>, for caller: Caller) throws(Refusal) -> [ID<User>: String] {
    var names = Dictionary(users.map { ($0, $0.description) }) { one, _ in one }
    for user in try visibleUsers(users.sorted(), for: caller) {
      if let name = user.summary.name { names[user.summary.id] = name }
    }
    return names
  }

  /// The name of the caller.
  func ownName(of caller: Caller) throws(Refusal) -> String {
    let user = try caller.requireUser()
    return try names(of: [user], for: caller)[user] ?? user.description
  }

  func morMessages(
    _ forums: [Forum], at origin: String, for caller: Caller
  ) throws(Refusal) -> [MorMessagesForum] {
    let uuids = try uuids(.forum, of: forums.map(\.id.number))
    let changes = try lastChanges(of: forums.map(\.id))
    let users = Set(forums.map(\.createdBy) + forums.compactMap { changes[$0.id]?.by })
    let names = try names(of: users, for: caller)
    return forums.map { forum in
      let change = changes[forum.id]
      return MorMessagesForum(
        forum: forum, uuid: uuids[forum.id.number] ?? "", createdBy: names[forum.createdBy] ?? "",
        changedBy: names[change?.by ?? forum.createdBy] ?? "",
        changedAt: change.map { MorMessagesTime(microseconds: $0.at) }
          ?? MorMessagesTime(milliseconds: forum.createdAt),
        origin: origin)
    }
  }

  /// Live messages of a room.
  func morMessages(
    _ messages: [Message], in forum: ID<Forum>, for caller: Caller
  ) throws(Refusal) -> [MorMessagesMessage] {
    let uuids = try uuids(.message, of: messages.map(\.id.number))
    let forumUUID = try self.uuids(.forum, of: [forum.number])[forum.number] ?? ""
    let names = try names(of: Set(messages.map(\.author)), for: caller)
    let times = try microseconds(of: messages)
    return messages.map { message in
      MorMessagesMessage(
        message: message, uuid: uuids[message.id.number] ?? "", forum: forumUUID, author: names[message.author] ?? "",
        time: MorMessagesTime(microseconds: times[message.id] ?? Int(message.createdAt) * 1_000))
    }
  }
}

extension Message {
  /// Whether MorMessages has such messages: written by users, for people to read, and not removed.
  var isInMorMessages: Bool { kind == .message && isLive && !isMachineOnly }
}
