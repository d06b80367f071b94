// A schedule of phones: users use apps on ParleyKit over a network that a scheduler controls from a seed. Requests,
// connections and sleeps of an app stay pending until the scheduler completes them, and time advances only by its
// steps. All of it runs on one lane, so the scheduler knows when the apps are idle, and goes on.
//
// In some schedules, the server's data goes back to an earlier copy of its folder.
//
// In the final state, the network works, and no fault is planned. Then each app equals the server's responses, has only
// rejected operations in its outbox, and each posted message is stored once, or an orphan of its app if the server has lost
// it.

import ParleyKit
import ParleyModel
import TestSupport

actor PhoneSchedule {
  let lane: Lane
  let stage: Stage
  let storeLog: StoreLog
  let seed: UInt64
  var random: Seeded
  let simulatedTime = SimulatedTime()
  var phones: [Phone] = []
  /// Channels that any user may join.
  var channels: [ID<Conversation>] = []
  /// Posted messages by operation id.
  var expectedMessages: [String: Expectation] = [:]
  var conversationsOfPosts: [String: ID<Conversation>] = [:]
  /// Deletions by operation id.
  var deletions: [String: ID<Message>] = [:]
  /// Deletions whose response reaches the app. They are undone if the data goes back.
  var answeredDeletions: Set<ID<Message>> = []
  /// Whether the server's data goes back to a copy.
  let goesBack: Bool
  /// All steps and requests in order.
  private var events: [String] = []
  /// The injected fault, and the number of eligible events before it.
  let injected: InjectedNetworkFault?
  var untilFault = 2
  /// Whether an app is fetching all conversations.
  var isFetching = false
  /// The last response to a post.
  var lastResponse: (status: Int, body: [UInt8])?

  enum Expectation {
    /// Must be stored, unless it was rejected.
    case required
    /// May be stored: it was cancelled, or the app died while posting it.
    case optional
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  init(_ site: CheckedSite, seed: UInt64, on lane: Lane, injected: InjectedNetworkFault? = nil) throws {
    self.lane = lane
    stage = try Stage(site)
    storeLog = stage.storeLog
    self.seed = seed
    self.injected = injected
    random = Seeded(seed: seed)
    goesBack = Int.random(in: 0..<3, using: &random) == 0
  }

  func note(_ step: String) {
    stage.steps.append(step)
    events.append(step)
  }

  func noteRequest(_ exchange: TransportRequest, of phone: Phone) {
    events.append("\(phone.name): \(exchange.summary)")
  }

  /// The steps and requests without what differs between two runs of a seed: the random number of the server's start, a part
  /// of each cursor, and the ids that a restarted server assigns, which begin at its clock.
  var trace: [String] {
    events.map { step in
      step.replacing(/(after=\w+)\.\w+\./) { "\($0.output.1).start." }.replacing(/\d{14,}/, with: "id")
    }
  }

  func pick<Element>(_ elements: [Element]) -> Element { elements[Int.random(in: 0..<elements.count, using: &random)] }

  func chance(_ one: Int, in all: Int) -> Bool { Int.random(in: 0..<all, using: &random) < one }

  private static let length = 12

  /// Runs the schedule and returns its failure.
  func failure() async -> String? {
    do { try await run(phones: 2 + Int(seed % 2)) } catch { stage.fail("\(error)") }
    for phone in phones {
      let app = phone.kill()
      Task { await app.stop() }
    }
    await lane.waitUntilIdle()
    await stage.end(on: self)
    await lane.waitUntilIdle()
    for phone in phones { phone.remove() }
    phones = []
    if Seeds.isReplay { for event in events { print(event) } }
    return stage.failure(of: seed)
  }

  private func run(phones count: Int) async throws {
    for number in 0..<count {
      let user = pick(stage.site.users)
      let phone = try Phone(
        "\(user.name)\(number)", user, seed: seed, maxQueuedBytes: pick([2_000, 20_000, 200_000]),
        hasDisk: chance(1, in: 12), stage.clock, simulatedTime)
      phones.append(phone)
      await phone.parley.start()
    }
    if chance(3, in: 4) { try await runUntilIdle() }
    for _ in 0..<Self.length {
      guard stage.faults.isEmpty else { return }
      try await goesBack && chance(1, in: 4) ? restoreStep() : step()
      if chance(1, in: 2) { await stage.publish(.max, on: self) }
      await lane.waitUntilIdle()
      for _ in 0..<Int.random(in: 0...6, using: &random) { try await deliverOne() }
      for phone in phones where phone.lifetime.isOver { try await relaunch(phone) }
    }
    try await checkFinalState()
  }
}
