// One schedule: all that happens in a place, one thing after the other, drawn from a seed. The server is the real one, but
// for its sockets: the store, the community, the publisher, the hub, and the API with what it does on a WebSocket, all on
// this actor as on their loop. What the writer has committed waits here until it is published, what is sent stands in a
// line until a device takes it, and the clock is set by hand.
//
// At the end everything comes to rest: all is published, everyone is connected, has taken what came, and has asked for what
// they need. Then each device holds what the server would answer.

import Foundation
import JSON
import Model
import PubSub
import SeededRandom
import Web

@testable import API
@testable import Community
@testable import Storage
@testable import Wire

actor Schedule {
  let place: CheckedPlace
  let seed: UInt64
  var random: Seeded
  /// What was done, for who reads of a fault.
  var steps: [String] = []
  var faults: [String] = []
  var server: CheckedServer
  let clock = CheckedClock()
  let complaints = Complaints()
  private let committed = Committed()

  var devices: [Device] = []
  var handlers: [ObjectIdentifier: any WebSocketHandler] = [:]
  /// A command was begun whose answer nobody waits for.
  var hasLostCommand = false
  var audit = Audit()
  var moment = Audit.Moment()
  /// Those that anybody may join.
  var channels: [ID<Conversation>] = []
  /// What was said, by its number.
  var said: [Said] = []
  /// What is broken on purpose, and how many events that could show it go by before.
  let injected: InjectedFault?
  var untilFault = 3
  private var requests: UInt64 = 0

  /// What somebody has said, and what became of it.
  struct Said {
    let person: ID<Account>
    let conversation: ID<Conversation>
    var acknowledged: ID<Message>?
    var isRefused = false
  }

  init(_ place: CheckedPlace, seed: UInt64, injected: InjectedFault? = nil) throws {
    self.place = place
    self.seed = seed
    self.injected = injected
    random = Seeded(seed: seed)
    server = try CheckedServer(CheckedPlace.copy(place.folder), committed, clock, complaints)
  }

  func fail(_ what: String) { faults.append(what) }

  // MARK: The server

  /// Everything that was begun is done, but for what waits to be published or taken.
  func settle() async {
    if hasLostCommand {
      hasLostCommand = false
      await server.afterWrites()
    }
    while !Task.isCancelled {
      while case .more = server.live.board.deliver() {}
      server.live.startReading(isolation: self)
      let hasCommands = devices.contains { $0.line?.isBusy ?? false }
      guard hasCommands || server.live.readingCount > 0 else { return }
      if hasCommands { await server.afterWrites() }
      if server.live.readingCount > 0 { await server.afterReads() }
      await Task.yield()
    }
  }

  /// Publishes some of what was committed.
  func publish(_ count: Int) async {
    for delivery in committed.take(count) {
      if let first = delivery.events.first, let last = delivery.events.last {
        moment.published = max(moment.published, last.id)
        moment.publishing = first.id...last.id
        await server.publish(delivery, last: last.id)
      } else {
        server.publisher.take(delivery)
      }
      await settle()
      moment.publishing = nil
    }
  }

  var waitingDeliveries: Int { committed.count }

  /// Ends the server, in order or as by a kill, and starts another on the same disk.
  func restart(kill: Bool) async throws {
    var folder = server.folder
    if kill {
      folder = try CheckedPlace.copy(folder)
    } else {
      server.community.hub.close()
      await settle()
    }
    for device in devices { cut(device) }
    await server.close()
    if kill { server.remove() }
    _ = committed.take(.max)
    server = try CheckedServer(folder, committed, clock, complaints)
    moment.published = try server.view.head()
  }

  func end() async {
    for device in devices { cut(device) }
    await server.close()
    server.remove()
  }

  // MARK: Requests

  func request(_ method: Wire.Method, _ path: String, by person: CheckedPlace.Person, _ body: [UInt8] = []) async
    -> Response
  {
    var fields: Fields = ["Authorization": "Bearer \(person.token)"]
    if !body.isEmpty { fields.add("Content-Type", "application/json") }
    let mark = path.firstIndex(of: "?") ?? path.endIndex
    let head = RequestHead(
      method: method,
      target: Target(
        path: API.base + path[..<mark], query: mark < path.endIndex ? String(path[mark...].dropFirst()) : nil),
      fields: fields, framing: body.isEmpty ? .none : .length(body.count))
    requests += 1
    let context = Context(
      id: RequestID(process: 1, number: requests), now: clock.now, loop: self, peer: IPAddress("192.0.2.1"),
      isEncrypted: false, head: head, addresses: server.site.addresses, locals: server.locals)
    return await server.site.respond(Request(head: head, body: RequestBody(body)), context, server.site.plan(head))
  }
}
