// Reposts: the action `repost` on a post, and its entry in the feed of the user. The entry is a message without text that
// names the post, so it has a position, an event and a copy in every cache as any other message. It shows nothing of the
// post by itself: each reader gets the post with the rights of now.

import ParleyModel
import Storage

extension WriteTransaction {
  /// Adds a post to the feed of the caller. It counts as a message of the caller, and the rules of the staff examine its text
  /// again: a repost carries it to other readers.
  func repost(
    _ found: ReadableMessage, _ content: Message.Content, _ rules: CompiledRules, by caller: Caller, _ bounds: Bounds
  ) throws(Refusal) {
    let (user, post) = (try caller.requireUser(), found.message)
    guard found.standing.kind == .feed, post.kind == .message, post.replyTo == nil, !post.isMachineOnly else {
      throw .invalid("type", .mismatch)
    }
    guard Permissions.mayCreateConversations(caller.role) else { throw .forbidden }
    let feed = try ownFeed(of: user)
    let (rights, standing) = try self.rights(of: caller, in: feed)
    guard rights.contains(.write) else { throw try refusal(of: user, in: feed, standing.isSilenced) }
    let text = try ParsedText.again(content.text, Bounds.unlimitedEntities)
    let counts = PostCounts(messages: 1, links: text.linkCount, mentions: 0)
    if let probation = try self.probation(of: caller, in: standing, adding: counts) { try store(probation, of: user) }
    let rule = try self.rule(
      of: rules, matching: text, options: content.poll?.options.map(\.text) ?? [], attachments: content.attachments,
      by: caller, in: standing)
    // The post is published, so a repost is not held.
    if let rule, rule.action != .report { throw .contentRefused }
    var entry = NewMessage(conversation: feed, author: user, text: "")
    entry.repostOf = post.id
    let stored = try self.post(entry)
    if let rule { try report(entry.posted(stored, at: now), in: nil, rule, bounds) }
  }

  /// Deletes a message of its author. With a repost its action ends.
  func deleteOwn(_ message: Message, by actor: ID<User>) throws(Refusal) {
    try delete(message.id, by: actor)
    guard let post = message.content?.repostOf, let position = try position(of: post) else { return }
    _ = try remove(.repost, from: post, in: position.conversation, by: actor)
  }
}
