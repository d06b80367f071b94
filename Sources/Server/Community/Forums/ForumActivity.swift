// Facts of forums for their tiles: the newest activity and topic, counts, unread counts.

import ParleyModel
import Storage

extension ReadTransaction {
  /// Adds the activity and the number of members of each forum that the caller may read.
  func addActivity(to forums: inout [ForumView], for caller: Caller) throws(Refusal) {
    let limited = try forumsWithHistoryStart(among: forums.map(\.forum.id), for: caller.user ?? ID(0))
    let unread = try caller.user.map { user throws(Refusal) in try unreadByForum(of: user, limited, caller) }
    for index in forums.indices {
      let forum = forums[index].forum
      guard Permissions.rights(of: caller.role, in: forums[index].standing).contains(.read) else { continue }
      var activity = ForumActivity()
      activity.topicCount = try topicCount(of: forum.id, max: Forum.maxCounted)
      let reader = limited.contains(forum.id) ? caller : nil
      if let message = try newest(forum.lastMessage, for: reader) { activity.lastActivityAt = message.createdAt }
      if let topic = try newestTopic(of: forum.id) {
        let message = try newest(topic.lastMessage, for: reader)
        activity.lastTopic = LastTopic(
          id: topic.id, title: topic.title, author: message?.author ?? topic.createdBy,
          lastActivityAt: message?.createdAt ?? topic.createdAt)
      }
      if let user = caller.user {
        activity.unread = unread?[forum.id] ?? 0
        let isOwn = forums[index].role != nil || forums[index].groupAccess != nil
        activity.newTopics = isOwn ? try newTopics(in: forum.id, for: user).count : 0
      }
      forums[index].activity = activity
      forums[index].memberCount = try memberCount(of: forum.id)
    }
  }

  /// - Parameter reader: whose history may start late; nil if all is readable.
  private func newest(_ id: ID<Message>?, for reader: Caller?) throws(Refusal) -> Message? {
    guard let id, let message = try message(id) else { return nil }
    guard let reader else { return message }
    return try readable([message], by: reader).first
  }

  /// Unread messages of the user's rooms and topics that are not muted, by forum.
  ///
  /// - Parameter limited: the forums in which the user's history may start late.
  private func unreadByForum(
    of user: ID<User>, _ limited: Set<ID<Forum>>, _ caller: Caller
  ) throws(Refusal) -> [ID<Forum>: Int] {
    var counts: [ID<Forum>: Int] = [:]
    for scope in try unreadConversationScopes(of: user) where scope.level != .nothing && scope.unreadUpTo > 0 {
      guard let forum = scope.forum else { continue }
      counts[forum, default: 0] += try unread(scope, of: user, for: limited.contains(forum) ? caller : nil)
    }
    return counts.mapValues { min($0, ConversationHead.maxUnread) }
  }

  /// The unread messages of a room or topic.
  ///
  /// - Parameter reader: whose history may start late; nil if all is readable.
  func unread(_ scope: UnreadScope, of user: ID<User>, for reader: Caller?) throws(Refusal) -> Int {
    guard let reader else { return try unread(of: user, in: scope.conversation, after: scope.start) }
    guard let start = try unreadStart(of: scope, for: reader) else { return 0 }
    return try unread(of: user, in: scope.conversation, after: start)
  }
}
