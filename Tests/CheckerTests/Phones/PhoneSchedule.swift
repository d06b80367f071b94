// One schedule of phones: users use apps that are made of ParleyKit, over a network that a scheduler draws from a seed. An
// app's requests, its live lines and its waiting stand in the air until the scheduler says what becomes of them; time goes by
// when it says so. All of it runs on one lane, so the scheduler knows when the apps have nothing left to do, and goes on.
//
// At the end there is a network again, and no fault any more. Then each app holds what the server would answer, has nothing
// left to send but what was refused, and everything that was said is there once.

import ParleyKit
import ParleyModel
import TestSupport

actor PhoneSchedule {
  let lane: Lane
  let stage: Stage
  let complaints: Complaints
  let seed: UInt64
  var random: Seeded
  let hours = Hours()
  var phones: [Phone] = []
  /// Those that anybody may join.
  var channels: [ID<Conversation>] = []
  /// What was said, by its name.
  var said: [String: Said] = [:]
  /// What deletes a message, by its name.
  var deletions: [String: ID<Message>] = [:]
  /// All that was done and asked for, in its order.
  private(set) var trace: [String] = []
  /// What is broken on purpose, and how often that could be before it is.
  let injected: InjectedNetwork?
  var untilFault = 2
  /// Whether an app is asking for all that there is.
  var isFetching = false
  /// The last answer to a message.
  var lastAnswer: (status: Int, body: [UInt8])?

  enum Said {
    /// It has to be there, unless it was refused.
    case surely
    /// It was let go, or the app died when it was said: it may be there.
    case perhaps
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  init(_ site: CheckedSite, seed: UInt64, on lane: Lane, injected: InjectedNetwork? = nil) throws {
    self.lane = lane
    stage = try Stage(site)
    complaints = stage.complaints
    self.seed = seed
    self.injected = injected
    random = Seeded(seed: seed)
  }

  func note(_ step: String) {
    stage.steps.append(step)
    trace.append(step)
  }

  func noteAsked(_ exchange: TransportRequest, of phone: Phone) { trace.append("\(phone.name): \(exchange.summary)") }

  func pick<Element>(_ elements: [Element]) -> Element { elements[Int.random(in: 0..<elements.count, using: &random)] }

  func chance(_ one: Int, in all: Int) -> Bool { Int.random(in: 0..<all, using: &random) < one }

  private static let length = 12

  /// What failed.
  func failure() async -> String? {
    do { try await run(phones: 2 + Int(seed % 2)) } catch { stage.fail("\(error)") }
    for phone in phones {
      let app = phone.kill()
      Task { await app.stop() }
    }
    await lane.quiet()
    await stage.end(on: self)
    await lane.quiet()
    for phone in phones { phone.remove() }
    phones = []
    return stage.failure(of: seed)
  }

  private func run(phones count: Int) async throws {
    for number in 0..<count {
      let user = pick(stage.site.users)
      let phone = try Phone(
        "\(user.name)\(number)", user, seed: seed, room: pick([2_000, 20_000, 200_000]),
        hasDisk: chance(1, in: 12), stage.clock, hours)
      phones.append(phone)
      await phone.parley.start()
    }
    if chance(3, in: 4) { try await calm() }
    for _ in 0..<Self.length {
      guard stage.faults.isEmpty else { return }
      try await step()
      if chance(1, in: 2) { await stage.publish(.max, on: self) }
      await lane.quiet()
      for _ in 0..<Int.random(in: 0...6, using: &random) { try await carryOne() }
      for phone in phones where phone.life.isOver { try await relaunch(phone) }
    }
    try await rest()
  }
}
