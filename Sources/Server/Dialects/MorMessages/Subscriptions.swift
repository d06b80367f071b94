import API
import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Storage
import Web

extension MorMessagesCall {
  func listSubscriptions() throws -> Response {
    let name = try view.ownName(of: caller)
    return .morMessages(
      list: try view.listSubscriptions(for: caller).map { MorMessagesSubscriptionAnswer(subscription: $0, user: name) })
  }

  func getSubscription() throws -> Response { try answer(try subscription()) }

  func subscribe() async throws -> Response {
    var body = try await body()
    try requireOwn(try body.text("userIdentity"), "created")
    guard let topic = try body.text("topicId") else {
      throw MorMessagesFailure(.badRequest, "missing topicId", isText: true)
    }
    let forum: Forum
    do throws(Refusal) {
      forum = try self.forum(named: topic)
    } catch {
      guard error == .notFound else { throw error }
      throw MorMessagesFailure(.notFound, "no forum for topicId", isText: true)
    }
    let made = try await context.community.subscribe(
      to: forum.id, named: topic, id: ObjectUUID.random(), by: caller)
    return try answer(made, .created)
  }

  /// Lets the subscription last for another hour.
  func renewSubscription() async throws -> Response {
    var body = try await body()
    let id = parameter("id")
    try requireOwn(try body.text("userIdentity"), "modified")
    let name = try body.text("subscriptionId") ?? body.text("id")
    guard name == id else {
      throw MorMessagesFailure(
        .badRequest, "subscriptionId on request path does not match subscription in request body", isText: true)
    }
    let known = try subscription()
    guard try body.text("topicId")?.lowercased() == known.topic.lowercased() else {
      throw MorMessagesFailure(
        .badRequest, "modification of topicId not allowed; delete the subscription and create a new one", isText: true)
    }
    return try answer(try await context.community.renewSubscription(id, by: caller))
  }

  func deleteSubscription() async throws -> Response {
    try await context.community.deleteSubscription(parameter("id"), by: caller)
    return Response(.noContent)
  }

  /// The messages of the room as they are posted, on a WebSocket.
  func openSocket() throws -> Response {
    if basic == nil, !context.request.fields.has("authorization") {
      // Browsers send the cookie from pages of any origin.
      guard let origin = context.request.fields["origin"], Self.isOwn(origin, context.server) else {
        throw MorMessagesFailure.foreignOrigin
      }
    }
    let subscription = try subscription()
    let room = try view.getForum(subscription.forum, for: caller).forum.room
    let live = LoopBroadcasts.of(context)
    let start = ForumSocket.Start(
      api: context.api, request: context.server.id, subscription: subscription, room: room, caller: caller,
      event: try view.head())
    let upgrade = WebSocketUpgrade(options: ForumSocket.options) { socket in ForumSocket(socket, start, live) }
    return Response(.switchingProtocols, body: .webSocket(upgrade))
  }

  private func subscription() throws -> MorMessagesSubscription {
    do throws(Refusal) {
      return try view.getSubscription(parameter("id"), for: caller)
    } catch {
      guard error == .notFound else { throw error }
      throw MorMessagesFailure(.notFound, "no subscription for this id", isText: true)
    }
  }

  private func requireOwn(_ name: String?, _ verb: String) throws {
    guard let name, try view.isSignInName(name, caller) else {
      throw MorMessagesFailure(
        .badRequest, "subscriptions can only be \(verb) for the user making the request", isText: true)
    }
  }

  private func answer(_ subscription: MorMessagesSubscription, _ status: Status = .ok) throws -> Response {
    var json = JSONWriter()
    json.value(MorMessagesSubscriptionAnswer(subscription: subscription, user: try view.ownName(of: caller)))
    return .morMessages(json, status)
  }
}
