import ParleyJSON
import ParleyKit
import ParleyModel

@testable import ParleyWire

/// Delivery of requests, frames and pings.
extension PhoneSchedule {
  private enum Move {
    case ask(Phone, Air.Asked)
    case tell(Phone)
    case ping(Phone)
  }

  /// Delivers one request, some frames or pings, at random.
  func carryOne() async throws {
    var moves: [Move] = []
    for phone in phones {
      moves += phone.air.asked.map { .ask(phone, $0) }
      if phone.wires.contains(where: { $0.line.hasNews }) { moves.append(.tell(phone)) }
      if phone.wires.contains(where: { $0.reception.isPinging && !$0.line.isDead }) { moves.append(.ping(phone)) }
    }
    if moves.isEmpty || chance(1, in: 8) {
      _ = wakeNext()
    } else {
      switch pick(moves) {
      case .ask(let phone, let asked): try await carry(asked, of: phone)
      case .tell(let phone): await tell(phone, .random(in: 1...6, using: &random))
      case .ping(let phone): answerPings(of: phone)
      }
    }
    await lane.quiet()
  }

  /// Delivers everything that is in flight, without faults. Returns whether there was any.
  func carryAll() async throws -> Bool {
    var isSomething = false
    for phone in phones {
      for asked in phone.air.asked {
        guard let asked = phone.air.take(asked.number) else { continue }
        asked.settle(try await outcome(of: asked, phone))
        await lane.quiet()
        isSomething = true
      }
      if await tell(phone, .max) > 0 { isSomething = true }
      if phone.wires.contains(where: { $0.reception.isPinging && !$0.line.isDead }) {
        answerPings(of: phone)
        isSomething = true
      }
      await lane.quiet()
    }
    return isSomething
  }

  /// Ends the sleep with the earliest deadline. Returns whether there was one.
  func wakeNext() -> Bool {
    let next = phones.flatMap { phone in phone.air.pauses.map { (air: phone.air, pause: $0) } }
      .min { $0.pause.due < $1.pause.due }
    guard let next else { return false }
    stage.clock.pass(hours.move(to: next.pause.due))
    next.air.end(next.pause.number)
    return true
  }

  private func answerPings(of phone: Phone) {
    for wire in phone.wires where !wire.line.isDead { wire.reception.answerPings() }
  }

  // MARK: Requests

  /// Delivers most requests. Some requests and some responses are lost.
  private func carry(_ asked: Air.Asked, of phone: Phone) async throws {
    guard let asked = phone.air.take(asked.number) else { return }
    let fate = Int.random(in: 0..<14, using: &random)
    if fate == 0 {
      note("\(phone.name) sends \(asked.exchange.summary), which is lost")
      return asked.settle(.failure(.interrupted("request lost")))
    }
    let outcome = try await outcome(of: asked, phone)
    guard fate < 3 else { return asked.settle(outcome) }
    note("\(phone.name) sends \(asked.exchange.summary), whose response is lost")
    drop(outcome, of: phone)
    asked.settle(.failure(fate == 1 ? .timedOut : .interrupted("response lost")))
  }

  /// Closes a socket whose response was lost.
  private func drop(_ outcome: Air.Outcome, of phone: Phone) {
    if case .socket = outcome, let wire = phone.wires.popLast() { stage.cut(wire.line, on: self) }
  }

  private func outcome(of asked: Air.Asked, _ phone: Phone) async throws -> Air.Outcome {
    noteAsked(asked.exchange, of: phone)
    let outcome = asked.isSocket ? await open(asked.exchange, phone) : try await answer(to: asked.exchange, phone)
    if asked.asker == nil { drop(outcome, of: phone) }
    return outcome
  }

  private func open(_ exchange: TransportRequest, _ phone: Phone) async -> Air.Outcome {
    let line = Line(room: phone.room) { sent in self.fate(of: sent) }
    let query = exchange.target.split(separator: "?").dropFirst().joined()
    guard await stage.connect(line, query, token: phone.user.token, on: self) else {
      return .failure(.unreachable("rejected"))
    }
    let reception = Reception()
    phone.wires.append((line, reception))
    await stage.settle(on: self)
    return .socket(reception.socket)
  }

  private func answer(to exchange: TransportRequest, _ phone: Phone) async throws -> Air.Outcome {
    var body: [UInt8] = []
    switch exchange.body {
    case .none: break
    case .bytes(let bytes): body = bytes
    case .stream(let length, let next): while body.count < length { body += try await next() }
    }
    let isMessage = exchange.method == "POST" && exchange.target.hasSuffix("/messages")
    if isMessage, injected == .answersByItself, let before = lastAnswer {
      return .answer(TransportResponse(before))
    }
    let answer = await ask(exchange, body, phone)
    guard isMessage, answer.status < 300 else { return .answer(TransportResponse(answer)) }
    lastAnswer = answer
    if injected == .postsTwice, isTimeForFault() {
      var object = try JSONValue(parsing: body).object()
      let name = try object.string("client_id")
      let other = String(decoding: body, as: UTF8.self).replacing(name, with: "again-\(name)")
      _ = await ask(exchange, Array(other.utf8), phone)
    }
    return .answer(TransportResponse(answer))
  }

  private func ask(_ exchange: TransportRequest, _ body: [UInt8], _ phone: Phone) async -> (status: Int, body: [UInt8]) {
    let path = String(exchange.target.dropFirst("/api/v1".utf8.count))
    let type = exchange.fields.first { $0.name == "Content-Type" }?.value ?? ""
    return await stage.ask(
      ParleyWire.Method(exchange.method), path, token: phone.user.token, body, type: type, on: self)
  }

  private func isTimeForFault() -> Bool {
    guard untilFault > 0 else { return false }
    untilFault -= 1
    return untilFault == 0
  }

  // MARK: WebSockets

  private func fate(of sent: Line.Sent) -> Line.Fate {
    guard injected == .fallsSilent, case .event(let event) = sent.frame, case .conversation = event.stream else {
      return .arrives
    }
    untilFault -= 1
    return untilFault > 0 ? .arrives : .vanishes
  }

  /// Delivers up to `count` frames of the server, and returns how many.
  @discardableResult
  func tell(_ phone: Phone, _ count: Int) async -> Int {
    var told = 0
    for wire in phone.wires {
      while told < count, !wire.reception.isLeft, let (sent, hasDrained) = wire.line.take() {
        told += 1
        if case .closed = sent.frame { break }
        wire.reception.arrive(String(decoding: sent.bytes, as: UTF8.self))
        if hasDrained { await stage.drained(wire.line, on: self) }
      }
    }
    for wire in phone.wires where wire.reception.isLeft || wire.line.isClosed && !wire.line.hasNews {
      stage.cut(wire.line, on: self)
      wire.reception.end(LiveSocket.Ending(code: 1_006, reason: ""))
    }
    phone.wires.removeAll { $0.line.isClosed && !$0.line.hasNews }
    await stage.settle(on: self)
    return told
  }

  /// Closes the network on both sides. Pending requests may be executed first.
  func cut(_ phone: Phone) async throws {
    phone.air.set(isUp: false)
    for asked in phone.air.asked {
      guard let asked = phone.air.take(asked.number) else { continue }
      if chance(1, in: 2) {
        note("\(asked.exchange.summary) is executed first")
        drop(try await outcome(of: asked, phone), of: phone)
      }
      asked.settle(.failure(.interrupted("the network is gone")))
    }
    hangUp(phone)
  }

  func hangUp(_ phone: Phone) {
    for wire in phone.wires {
      stage.cut(wire.line, on: self)
      wire.reception.end(LiveSocket.Ending(code: 1_006, reason: ""))
    }
    phone.wires = []
  }
}

extension TransportRequest {
  var summary: String { "\(method) \(target)" }
}

extension TransportResponse {
  fileprivate init(_ answer: (status: Int, body: [UInt8])) {
    let body = Once(answer.body)
    self.init(status: answer.status, fields: []) { () async throws(TransportFailure) in body.take() }
  }
}
