import ParleyModel
import Testing

@testable import ParleyKit

/// Replies to reposts, and actions on them, go to their posts.
@Suite struct RepostTests {
  /// A post of ada, reposted by linus. Grace follows linus.
  private static func open(_ body: (ScriptedSite, Message) async throws -> Void) async throws {
    try await ScriptedSite.open { site in
      let feed = try await site.client("ada").send(.createConversation(.feed)).conversation.id
      let post = try await site.post("My first socks are done.", as: "ada", in: feed)
      _ = try await site.client("linus").send(.setAction(on: post.id, type: .repost))
      _ = try await site.client("grace").send(.followUser(.id(site.id("linus"))))
      try await body(site, post)
    }
  }

  @Test func `AN-05: a reply to the newest post of the timeline mentions its author and the reposter`() async throws {
    try await Self.open { site, post in
      let grace = try SiteClient(site, "grace")
      try await grace.sync.catchUp()
      let page = try await grace.client.send(.getTimeline(limit: 1).including())
      let entry = try #require(page.elements.first?.message)
      #expect(entry.id != post.id && entry.post == post.id && post.post == post.id)
      let original = try #require(page.included?.message(entry.post)?.message)
      let author = try #require(page.included?.user(original.author)?.summary)
      let reposter = try #require(page.included?.user(entry.author)?.summary)
      var draft = Draft.reply(to: entry, by: author, repostedBy: reposter)
      #expect(draft == Draft("@ada @linus ", replyTo: .message(post.id)))
      #expect(Draft.reply(to: original, by: author, repostedBy: author).text == "@ada ")
      #expect(Draft.replyToAll(entry, by: author, me: reposter).replyTo == .message(post.id))
      draft.text += "Which yarn?"
      let sent = try #require(try await grace.outbox.sendAndWait(draft, in: original.conversation).last)
      #expect(sent.replyTo == post.id && sent.content?.text == "@ada @linus Which yarn?")
      let replies = try await site.client("ada").send(.listReplies(to: post.id)).elements
      #expect(replies.map(\.message.id) == [sent.id])
      let inbox = try await site.client("linus").send(.listNotifications()).value
      #expect(inbox.entries.contains { $0.entry.kind == .mention })
    }
  }

  @Test func `AN-32: actions on a repost act on its post`() async throws {
    try await Self.open { site, post in
      let linus = try SiteClient(site, "linus")
      try await linus.sync.catchUp()
      let feed = try await linus.client.send(.createConversation(.feed)).conversation.id
      let entry = try #require(try await MessageWindow(feed, linus.cache, linus.sync).newest().messages.last)
      #expect(entry.message?.post == post.id)
      try await linus.outbox.setAction(.star, on: entry.target, in: feed)
      #expect(try await linus.outbox.sendAll() == nil)
      let client = try site.client("linus")
      #expect(try await client.send(.getMessage(post.id)).mine.contains("star"))
      try await linus.outbox.setAction(.star, on: entry.target, in: feed, isSet: false)
      #expect(try await linus.outbox.sendAll() == nil)
      #expect(try await !client.send(.getMessage(post.id)).mine.contains("star"))
      let fetched = try #require(try await client.send(.getTimeline()).elements.first)
      #expect(try await client.send(fetched.setAction(.like)).message.id == post.id)
      try await client.send(fetched.removeAction(.like))
      #expect(try await client.send(.getMessage(post.id)).mine == ["repost"])
    }
  }

  @Test func `AN-32: a reply to a repost answers its post, in the feed of the post`() async throws {
    try await Self.open { site, post in
      let linus = try SiteClient(site, "linus")
      try await linus.sync.catchUp()
      let feed = try await linus.client.send(.createConversation(.feed)).conversation.id
      let entry = try #require(try await MessageWindow(feed, linus.cache, linus.sync).newest().messages.last)
      let sent = try #require(
        try await linus.outbox.sendAndWait(Draft("Well done!", replyTo: entry.target), in: feed).last)
      #expect(sent.replyTo == post.id && sent.conversation == post.conversation)
      // The feed of the post is unknown offline.
      linus.server.set { $0.isOffline = true }
      await #expect(throws: ClientFault.self) {
        try await linus.outbox.send(Draft("Again!", replyTo: entry.target), in: feed)
      }
      #expect(await linus.outbox.list().isEmpty)
    }
  }
}
