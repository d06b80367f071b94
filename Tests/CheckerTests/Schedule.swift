// A schedule: a sequence of steps on a site, drawn from a seed.
//
// In the final state, all events are published, and each device is connected, has received all frames and has fetched
// its needs. Then each device equals the server's responses.

import ParleyModel
import TestSupport

actor Schedule {
  let stage: Stage
  let storeLog: StoreLog
  let seed: UInt64
  var random: Seeded
  var devices: [Device] = []
  /// Channels that any user may join.
  var channels: [ID<Conversation>] = []
  /// Sent messages by number.
  var sentMessages: [SentRecord] = []
  /// The injected fault, and the number of eligible events before it.
  let injected: InjectedFault?
  var untilFault = 3

  /// A sent message and its result.
  struct SentRecord {
    let user: ID<User>
    let conversation: ID<Conversation>
    var acknowledged: ID<Message>?
    var isRefused = false
  }

  init(_ site: CheckedSite, seed: UInt64, injected: InjectedFault? = nil) throws {
    stage = try Stage(site)
    storeLog = stage.storeLog
    self.seed = seed
    self.injected = injected
    random = Seeded(seed: seed)
  }

  var site: CheckedSite { stage.site }

  func note(_ step: String) { stage.steps.append(step) }

  func fail(_ fault: String) { stage.fail(fault) }

  func settle() async { await stage.settle(on: self) }

  func publish(_ count: Int) async { await stage.publish(count, on: self) }

  func restart(kill: Bool) async throws {
    try await stage.restart(kill: kill, on: self)
    for device in devices { device.disconnected() }
  }

  func end() async {
    for device in devices { disconnect(device) }
    await stage.end(on: self)
  }
}
