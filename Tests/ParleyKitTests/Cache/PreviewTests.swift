import ParleyModel
import Testing

@testable import ParleyKit

/// The data for previews of views.
@Suite struct PreviewTests {
  @Test @MainActor func `the models of a preview show its data without a failure`() async throws {
    let site = PreviewSite.garden
    let parley = try Parley.preview(site)
    let room = try #require(site.forums.first?.forum.room)
    let model = RoomModel(room, parley)
    let forums = ForumListModel(parley)
    let inbox = InboxModel(parley)
    let topics = TopicListModel(of: site.forums[0].forum.id, parley)
    let runs = [
      Task { await model.run() }, Task { await forums.run() }, Task { await inbox.run() }, Task { await topics.run() },
    ]
    defer { for run in runs { run.cancel() } }
    try await wait {
      model.messages.count == 3 && model.row != nil && forums.isLoaded && inbox.isLoaded && topics.isLoaded
    }
    #expect(model.messages.map(\.text)[1] == "I do, until Thursday.")
    #expect(forums.forums.map(\.forum.title).sorted() == ["Garden", "Kitchen"])
    #expect(topics.topics.map(\.topic.title) == ["When to plant garlic?"])
    #expect(inbox.notifications.map(\.entry.kind) == [.direct, .mention] && inbox.unread == 2)
    try await wait { model.users[model.messages[0].author ?? ID(0)]?.summary.displayName == "Grace Hopper" }
    for failure in [model.failure, forums.failure, inbox.failure, topics.failure] { #expect(failure == nil) }
    await model.send("On my way")
    try await wait { model.messages.last?.text == "On my way" }
    #expect(model.messages.last?.isUnsent == true)
  }

  @Test func `a preview has the data of the app`() async throws {
    var site = PreviewSite(name: "mira")
    let linus = site.addUser("linus")
    let direct = site.addDirect(with: linus)
    for number in 1...100 { site.addMessage("message \(number)", by: linus, in: direct) }
    let parley = try Parley.preview(site)
    #expect(try await parley.cache.newest(3, in: direct).count == 3)
    #expect(await parley.cache.replica.conversations[direct]?.unread == 100)
    await #expect(throws: ClientFault.self) { try await parley.client.send(.listForums()) }
  }
}
