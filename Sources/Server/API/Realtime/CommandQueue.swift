import ParleyJSON

/// The commands of one client. Answers are sent in the order of the commands, not of completion.
struct CommandQueue {
  /// The maximum number of commands without an answer. Reading pauses at this number.
  static let maxOpen = 64
  /// The maximum size of the messages of queued commands in bytes. Reading pauses above it.
  static let maxQueuedBytes = 65_536

  private struct Slot {
    let id: JSONRaw
    var answer: [UInt8]?
  }

  private var slots: [Slot] = []
  private var firstSlot = 0
  private var queued: [(slot: Int, command: RealtimeCommand, size: Int)] = []
  private var queuedBytes = 0
  /// The slot of the running command that blocks later ones.
  private var barrier: Int?
  private var tokens = TokenBucket()
  /// The times of the malformed and too many commands of the last minute.
  private var refusedAt: [Int64] = []

  var isFull: Bool { slots.count >= Self.maxOpen || queuedBytes > Self.maxQueuedBytes }

  /// Whether a new command must wait behind earlier ones.
  var isBlocked: Bool { barrier != nil || !queued.isEmpty }

  /// Opens the slot of a command with this `id`.
  mutating func open(_ id: JSONRaw) -> Int {
    slots.append(Slot(id: id))
    return firstSlot + slots.count - 1
  }

  /// Counts a command against the rate limit. Returns false above it.
  mutating func spend(now: Int64) -> Bool { tokens.spend(RealtimeLimits.commands, now: now * 1_000) == nil }

  /// Counts a malformed command, or one above the rate limit. Returns true if there were too many within a minute.
  mutating func countRefused(now: Int64) -> Bool {
    refusedAt.removeAll { now - $0 >= 60_000 }
    refusedAt.append(now)
    return refusedAt.count >= RealtimeLimits.refusedCommands
  }

  /// - Parameter size: the size of the command's message in bytes.
  mutating func enqueue(_ slot: Int, _ command: RealtimeCommand, size: Int) {
    queued.append((slot, command, size))
    queuedBytes += size
  }

  /// The next queued command, unless a running command blocks it.
  mutating func next() -> (slot: Int, command: RealtimeCommand)? {
    guard barrier == nil, !queued.isEmpty else { return nil }
    let (slot, command, size) = queued.removeFirst()
    queuedBytes -= size
    return (slot, command)
  }

  mutating func dropQueued() {
    queued = []
    queuedBytes = 0
  }

  /// Blocks later commands until this one has finished.
  mutating func block(at slot: Int) { barrier = slot }

  mutating func finished(_ slot: Int) {
    if barrier == slot { barrier = nil }
  }

  /// Stores the answer of a command. Returns the answers to send now.
  mutating func answer(_ slot: Int, _ members: (inout JSONWriter) -> Void) -> [[UInt8]] {
    let index = slot - firstSlot
    guard slots.indices.contains(index) else { return [] }
    var json = JSONWriter()
    json.object { json in
      json.field("re", slots[index].id)
      members(&json)
    }
    slots[index].answer = json.bytes
    var ready: [[UInt8]] = []
    while let answer = slots.first?.answer {
      slots.removeFirst()
      firstSlot += 1
      ready.append(answer)
    }
    return ready
  }
}
