// The environment of a schedule. The server is the production server without its sockets: the store, the community, the
// publisher, the hub, and the API with its WebSocket handlers, all on the actor that runs the schedule as their event
// loop. Committed deliveries wait here until they are published, sent frames are queued in a socket until the device
// receives them, and the clock is set by the schedule.

import ParleyModel
import Web

@testable import API
@testable import Community
@testable import ParleyWire
@testable import Storage

final class Stage {
  let site: CheckedSite
  private(set) var server: CheckedServer
  let clock = CheckedClock()
  let storeLog = StoreLog()
  private let committed = Committed()
  private var connections: [ObjectIdentifier: (socket: SimulatedSocket, handler: any WebSocketHandler)] = [:]
  /// A command in progress has lost its connection.
  private var hasLostCommand = false
  private var requests: UInt64 = 0
  private(set) var hasRemovedLog = false
  /// Copies of the data folder.
  private(set) var copies: [String] = []
  /// The ids that the server assigned after it made a copy, which was then put back.
  private var lostIDs: Set<Int> = []
  private(set) var hasGoneBack = false
  /// The latest time of the server’s clock.
  private var latest: Int64 = 0

  var audit = Audit()
  private(set) var progress = Audit.Progress()
  /// The steps so far, printed with a fault.
  var steps: [String] = []
  private(set) var faults: [String] = []

  init(_ site: CheckedSite) throws {
    self.site = site
    server = try CheckedServer(CheckedSite.copy(site.folder), committed, clock, storeLog)
  }

  func fail(_ fault: String) { faults.append(fault) }

  /// The faults and the steps before them; nil without a fault.
  func failure(of seed: UInt64) -> String? {
    guard !faults.isEmpty else { return nil }
    let (first, done) = (faults.prefix(5) + storeLog.all, steps.joined(separator: "\n  "))
    return "seed \(seed): \(first.joined(separator: "\n  "))\n  after:\n  \(done)"
  }

  // MARK: The server

  /// Waits until all work is done, except deliveries to publish and frames to receive.
  func settle(on loop: isolated any Actor) async {
    if hasLostCommand {
      hasLostCommand = false
      await server.afterWrites()
    }
    while !Task.isCancelled {
      while case .more = server.live.board.deliver() {}
      server.live.startReading(isolation: loop)
      let hasCommands = connections.values.contains { $0.socket.isBusy }
      guard hasCommands || server.live.readingCount > 0 else { return }
      if hasCommands { await server.afterWrites() }
      if server.live.readingCount > 0 { await server.afterReads() }
      await Task.yield()
    }
  }

  /// Publishes up to `count` committed deliveries.
  func publish(_ count: Int, on loop: isolated any Actor) async {
    for delivery in committed.take(count) {
      if let first = delivery.events.first, let last = delivery.events.last {
        progress.published = max(progress.published, last.id)
        progress.publishing = first.id...last.id
        await server.publish(delivery, last: last.id)
      } else {
        server.publisher.enqueue(delivery)
      }
      await settle(on: loop)
      progress.publishing = nil
    }
  }

  var waitingDeliveries: Int { committed.count }

  /// Moves the server's clock forward or back.
  func pass(days: Int, on loop: isolated any Actor) async {
    latest = max(latest, clock.now)
    clock.pass(days * 86_400_000)
    server.community.hub.tick(now: clock.now, wall: clock.now)
    await settle(on: loop)
  }

  /// Stops or kills the server, and starts another on the same disk, without connections.
  func restart(kill: Bool, on loop: isolated any Actor) async throws {
    try start(in: try await stop(kill: kill, on: loop))
  }

  /// - Returns: the data folder.
  private func stop(kill: Bool, on loop: isolated any Actor) async throws -> String {
    var folder = server.folder
    if kill {
      folder = try CheckedSite.copy(folder)
    } else {
      server.community.hub.close()
      await settle(on: loop)
    }
    for connection in connections.values { disconnect(connection.socket, on: loop) }
    await server.close()
    if kill { server.remove() }
    _ = committed.take(.max)
    return folder
  }

  private func start(in folder: String) throws {
    server = try CheckedServer(folder, committed, clock, storeLog)
    progress.published = try server.view.head()
  }

  /// Copies the data folder of the running server, or stops the server for it.
  func copyData(isHot: Bool, on loop: isolated any Actor) async throws {
    guard !isHot else { return copies.append(try CheckedSite.copy(server.folder)) }
    let folder = try await stop(kill: false, on: loop)
    copies.append(try CheckedSite.copy(folder))
    try start(in: folder)
  }

  /// Stops or kills the server, and starts another on a copy of its data folder.
  func putBack(_ copy: String, kill: Bool, on loop: isolated any Actor) async throws {
    lostIDs.formUnion(storedIDs())
    CheckedSite.remove(try await stop(kill: kill, on: loop))
    // Ids stay unique if the clock is correct at the start.
    latest = max(latest, clock.now)
    clock.pass(Int(latest - clock.now) + 600_000)
    try start(in: try CheckedSite.copy(copy))
    lostIDs.subtract(storedIDs())
    hasGoneBack = true
    try await noteAccess()
  }

  /// Checks that no id names two objects of the two histories.
  func checkIDs() {
    let repeated = lostIDs.intersection(storedIDs())
    if !repeated.isEmpty { fail("ids are assigned twice: \(repeated.sorted())") }
  }

  /// Removes all logged events: a client that has not received them must reset.
  func removeEventLog(on loop: isolated any Actor) async throws {
    await publish(.max, on: loop)
    hasRemovedLog = true
    try await server.community.store.write { tx throws(Refusal) in
      while try tx.removeEvents(before: .max, limit: 1_000) {}
    }
  }

  func end(on loop: isolated any Actor) async {
    for connection in connections.values { disconnect(connection.socket, on: loop) }
    await server.close()
    server.remove()
    for copy in copies { CheckedSite.remove(copy) }
  }

  // MARK: Requests

  func request(
    _ method: ParleyWire.Method, _ path: String, token: String, _ body: [UInt8] = [], type: String = "application/json",
    on loop: isolated any Actor
  ) async -> Response {
    var fields: Fields = ["Authorization": "Bearer \(token)"]
    if !body.isEmpty { fields.add("Content-Type", type) }
    let queryStart = path.firstIndex(of: "?") ?? path.endIndex
    let head = RequestHead(
      method: method,
      target: Target(
        path: API.base + path[..<queryStart],
        query: queryStart < path.endIndex ? String(path[queryStart...].dropFirst()) : nil),
      fields: fields, framing: body.isEmpty ? .none : .length(body.count))
    requests += 1
    let request = Request(head: head, body: RequestBody(body))
    let context = Context(
      id: RequestID(process: 1, number: requests), now: clock.now, uptime: clock.now, loop: loop,
      peer: IPAddress("192.0.2.1"),
      isEncrypted: false, request: request, addresses: server.site.addresses, locals: server.locals)
    return await server.site.respond(request, context, server.site.plan(head))
  }

  /// Sends a request, waits until all work is done, and returns the response.
  func perform(
    _ method: ParleyWire.Method, _ path: String, token: String, _ body: [UInt8] = [], type: String = "application/json",
    on loop: isolated any Actor
  ) async -> (status: Int, body: [UInt8]) {
    let response = await request(method, path, token: token, body, type: type, on: loop)
    await settle(on: loop)
    if response.status.code >= 500 { fail("\(method.name) \(path): \(response.status.code)") }
    guard case .bytes(let bytes) = response.body else { return (response.status.code, []) }
    return (response.status.code, bytes)
  }

  // MARK: Connections

  /// Opens a connection. Returns whether the server accepted it; the first frames are queued.
  func connect(_ socket: SimulatedSocket, _ query: String, token: String, on loop: isolated any Actor) async -> Bool {
    let response = await request(.get, "/realtime?\(query)", token: token, on: loop)
    guard case .webSocket(let upgrade) = response.body else {
      fail("a connection is rejected: \(response.status.code)")
      return false
    }
    let handler = upgrade.open(socket)
    connections[ObjectIdentifier(socket)] = (socket, handler)
    handler.opened(on: loop)
    return true
  }

  func send(_ command: [UInt8], on socket: SimulatedSocket, _ loop: isolated any Actor) {
    guard let connection = connections[ObjectIdentifier(socket)], socket.sendCommand() else { return }
    connection.handler.received(.text(command), on: loop)
  }

  /// The buffer of the connection has drained.
  func drained(_ socket: SimulatedSocket, on loop: isolated any Actor) async {
    guard let connection = connections[ObjectIdentifier(socket)] else { return }
    connection.handler.drained(on: loop)
    await settle(on: loop)
  }

  /// Closes the connection on both sides.
  func disconnect(_ socket: SimulatedSocket, on loop: isolated any Actor) {
    if socket.openCommands > 0 { hasLostCommand = true }
    socket.disconnect()
    connections.removeValue(forKey: ObjectIdentifier(socket))?.handler.closed(
      WebSocketSession.Closing(cause: .lost, code: .lost, reason: ""), on: loop)
  }
}
