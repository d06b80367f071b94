// One schedule: all that happens in a site, one thing after the other, drawn from a seed.
//
// At the end everything comes to rest: all is published, everyone is connected, has taken what came, and has asked for what
// they need. Then each device holds what the server would answer.

import ParleyModel
import TestSupport

actor Schedule {
  let stage: Stage
  let complaints: Complaints
  let seed: UInt64
  var random: Seeded
  var devices: [Device] = []
  /// Those that anybody may join.
  var channels: [ID<Conversation>] = []
  /// What was said, by its number.
  var said: [Said] = []
  /// What is broken on purpose, and how many events that could show it go by before.
  let injected: InjectedFault?
  var untilFault = 3

  /// What somebody has said, and what became of it.
  struct Said {
    let user: ID<User>
    let conversation: ID<Conversation>
    var acknowledged: ID<Message>?
    var isRefused = false
  }

  init(_ site: CheckedSite, seed: UInt64, injected: InjectedFault? = nil) throws {
    stage = try Stage(site)
    complaints = stage.complaints
    self.seed = seed
    self.injected = injected
    random = Seeded(seed: seed)
  }

  var site: CheckedSite { stage.site }

  func note(_ step: String) { stage.steps.append(step) }

  func fail(_ what: String) { stage.fail(what) }

  func settle() async { await stage.settle(on: self) }

  func publish(_ count: Int) async { await stage.publish(count, on: self) }

  func restart(kill: Bool) async throws {
    try await stage.restart(kill: kill, on: self)
    for device in devices { device.disconnected() }
  }

  func end() async {
    for device in devices { cut(device) }
    await stage.end(on: self)
  }
}
