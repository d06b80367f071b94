import ParleyJSON
import ParleyKit
import ParleyModel

@testable import ParleyWire

/// Delivery of requests, frames and pings.
extension PhoneSchedule {
  private enum Move {
    case request(Phone, SimulatedNetwork.PendingRequest)
    case frames(Phone)
    case ping(Phone)
  }

  /// Delivers one request, some frames or pings, at random.
  func deliverOne() async throws {
    var moves: [Move] = []
    for phone in phones {
      moves += phone.network.pending.map { .request(phone, $0) }
      if phone.connections.contains(where: { $0.socket.hasFrames }) { moves.append(.frames(phone)) }
      if phone.connections.contains(where: { $0.appSocket.isPinging && !$0.socket.isDead }) {
        moves.append(.ping(phone))
      }
    }
    if moves.isEmpty || chance(1, in: 8) {
      _ = wakeNext()
    } else {
      switch pick(moves) {
      case .request(let phone, let pending): try await deliver(pending, of: phone)
      case .frames(let phone): await deliverFrames(to: phone, .random(in: 1...6, using: &random))
      case .ping(let phone): completePings(of: phone)
      }
    }
    await lane.waitUntilIdle()
  }

  /// Delivers everything that is in flight, without faults. Returns whether there was any.
  func deliverAll() async throws -> Bool {
    var hasDelivered = false
    for phone in phones {
      for pending in phone.network.pending {
        guard let pending = phone.network.take(pending.number) else { continue }
        noteAnswer(to: pending.exchange)
        pending.settle(try await response(to: pending, phone))
        await lane.waitUntilIdle()
        hasDelivered = true
      }
      if await deliverFrames(to: phone, .max) > 0 { hasDelivered = true }
      if phone.connections.contains(where: { $0.appSocket.isPinging && !$0.socket.isDead }) {
        completePings(of: phone)
        hasDelivered = true
      }
      await lane.waitUntilIdle()
    }
    return hasDelivered
  }

  /// Ends the sleep with the earliest deadline. Returns whether there was one.
  func wakeNext() -> Bool {
    let next = phones.flatMap { phone in phone.network.pauses.map { (network: phone.network, pause: $0) } }
      .min { $0.pause.due < $1.pause.due }
    guard let next else { return false }
    stage.clock.pass(simulatedTime.move(to: next.pause.due))
    next.network.end(next.pause.number)
    return true
  }

  private func completePings(of phone: Phone) {
    for connection in phone.connections where !connection.socket.isDead { connection.appSocket.completePings() }
  }

  // MARK: Requests

  /// Delivers most requests. Some requests and some responses are lost, and some responses arrive after later events.
  private func deliver(_ pending: SimulatedNetwork.PendingRequest, of phone: Phone) async throws {
    guard let pending = phone.network.take(pending.number) else { return }
    let fate = Int.random(in: 0..<14, using: &random)
    if fate == 0 {
      note("\(phone.name) sends \(pending.exchange.summary), which is lost")
      return pending.settle(.failure(.interrupted("request lost")))
    }
    let outcome = try await response(to: pending, phone)
    if Self.delayed.contains(fate), !pending.isSocket, pending.response == nil {
      note("\(phone.name) sends \(pending.exchange.summary), whose response is slow")
      noteAnswer(to: pending.exchange)
      return phone.network.delay(pending, outcome)
    }
    guard fate < 3 else {
      noteAnswer(to: pending.exchange)
      return pending.settle(outcome)
    }
    note("\(phone.name) sends \(pending.exchange.summary), whose response is lost")
    drop(outcome, of: phone)
    pending.settle(.failure(fate == 1 ? .timedOut : .interrupted("response lost")))
  }

  private static let delayed = 3..<6

  /// Notes a deletion whose response reaches its app, now or later.
  private func noteAnswer(to exchange: TransportRequest) {
    guard exchange.method == "DELETE", let match = exchange.target.wholeMatch(of: /\/api\/v1\/messages\/(\d+)/),
      let id = Int(match.1)
    else { return }
    answeredDeletions.insert(ID(id))
  }

  /// The response that is on its way, or the server's now.
  private func response(
    to pending: SimulatedNetwork.PendingRequest, _ phone: Phone
  ) async throws -> SimulatedNetwork.Outcome {
    if let response = pending.response { return response }
    return try await outcome(of: pending, phone)
  }

  /// Closes a socket whose response was lost.
  private func drop(_ outcome: SimulatedNetwork.Outcome, of phone: Phone) {
    if case .socket = outcome, let connection = phone.connections.popLast() {
      stage.disconnect(connection.socket, on: self)
    }
  }

  private func outcome(of pending: SimulatedNetwork.PendingRequest, _ phone: Phone) async throws
    -> SimulatedNetwork.Outcome
  {
    noteRequest(pending.exchange, of: phone)
    let outcome =
      pending.isSocket ? await open(pending.exchange, phone) : try await response(to: pending.exchange, phone)
    if pending.continuation == nil { drop(outcome, of: phone) }
    return outcome
  }

  private func open(_ exchange: TransportRequest, _ phone: Phone) async -> SimulatedNetwork.Outcome {
    let socket = SimulatedSocket(maxQueuedBytes: phone.maxQueuedBytes) { sent in self.fate(of: sent) }
    let query = exchange.target.split(separator: "?").dropFirst().joined()
    guard await stage.connect(socket, query, token: phone.user.token, on: self) else {
      return .failure(.unreachable("rejected"))
    }
    let appSocket = AppSocket()
    phone.connections.append((socket, appSocket))
    await stage.settle(on: self)
    return .socket(appSocket.socket)
  }

  private func response(to exchange: TransportRequest, _ phone: Phone) async throws -> SimulatedNetwork.Outcome {
    var body: [UInt8] = []
    switch exchange.body {
    case .none: break
    case .bytes(let bytes): body = bytes
    case .stream(let length, let next): while body.count < length { body += try await next() }
    }
    let isMessage = exchange.method == "POST" && exchange.target.hasSuffix("/messages")
    if isMessage, injected == .repeatsResponse, let before = lastResponse {
      return .response(TransportResponse(before))
    }
    let response = await perform(exchange, body, phone)
    guard isMessage, response.status < 300 else { return .response(TransportResponse(response)) }
    lastResponse = response
    if injected == .postsTwice, isTimeForFault() {
      var object = try JSONValue(parsing: body).object()
      let name = try object.string("client_id")
      let other = String(decoding: body, as: UTF8.self).replacing(name, with: "again-\(name)")
      _ = await perform(exchange, Array(other.utf8), phone)
    }
    return .response(TransportResponse(response))
  }

  private func perform(_ exchange: TransportRequest, _ body: [UInt8], _ phone: Phone) async -> (
    status: Int, body: [UInt8]
  ) {
    let path = String(exchange.target.dropFirst("/api/v1".utf8.count))
    let type = exchange.fields.first { $0.name == "Content-Type" }?.value ?? ""
    return await stage.perform(
      ParleyWire.Method(exchange.method), path, token: phone.user.token, body, type: type, on: self)
  }

  private func isTimeForFault() -> Bool {
    guard untilFault > 0 else { return false }
    untilFault -= 1
    return untilFault == 0
  }

  // MARK: WebSockets

  private func fate(of sent: SimulatedSocket.Sent) -> SimulatedSocket.Fate {
    guard injected == .dropsEvents, case .event(let event) = sent.frame, case .conversation = event.stream else {
      return .delivered
    }
    untilFault -= 1
    return untilFault > 0 ? .delivered : .dropped
  }

  /// Delivers up to `count` frames of the server, and returns how many.
  @discardableResult
  func deliverFrames(to phone: Phone, _ count: Int) async -> Int {
    var delivered = 0
    for connection in phone.connections {
      while delivered < count, !connection.appSocket.isClosedByApp, let (sent, hasDrained) = connection.socket.take() {
        delivered += 1
        if case .closed = sent.frame { break }
        connection.appSocket.receive(String(decoding: sent.bytes, as: UTF8.self))
        if hasDrained { await stage.drained(connection.socket, on: self) }
      }
    }
    for connection in phone.connections
    where connection.appSocket.isClosedByApp || connection.socket.isClosed && !connection.socket.hasFrames {
      stage.disconnect(connection.socket, on: self)
      connection.appSocket.end(LiveSocket.Ending(code: 1_006, reason: ""))
    }
    phone.connections.removeAll { $0.socket.isClosed && !$0.socket.hasFrames }
    await stage.settle(on: self)
    return delivered
  }

  /// Closes the network on both sides. Pending requests may be executed first.
  func disconnect(_ phone: Phone) async throws {
    phone.network.set(isUp: false)
    for pending in phone.network.pending {
      guard let pending = phone.network.take(pending.number) else { continue }
      if pending.response == nil, chance(1, in: 2) {
        note("\(pending.exchange.summary) is executed first")
        drop(try await outcome(of: pending, phone), of: phone)
      }
      pending.settle(.failure(.interrupted("the network is gone")))
    }
    closeConnections(phone)
  }

  func closeConnections(_ phone: Phone) {
    for connection in phone.connections {
      stage.disconnect(connection.socket, on: self)
      connection.appSocket.end(LiveSocket.Ending(code: 1_006, reason: ""))
    }
    phone.connections = []
  }
}

extension TransportRequest {
  var summary: String { "\(method) \(target)" }
}

extension TransportResponse {
  fileprivate init(_ response: (status: Int, body: [UInt8])) {
    let body = Once(response.body)
    self.init(status: response.status, fields: []) { () async throws(TransportFailure) in body.take() }
  }
}
