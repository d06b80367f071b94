import ParleyModel
import ParleySQLite

extension Check {
  static let logAndState = Check(
    "log and state",
    "each message has an event for its creation and for each later revision, in its conversation's stream, and it is a "
      + "tombstone exactly if the last delete or restore event is a delete"
  ) { examination in
    examination.expect(try examination.number("select count(*) from message"))
    let messages = try examination.connection.prepare(
      """
      select id, conversation_id, revision, deletion is not null, moved_from is not null
      from message
      order by id
      """)
    // A full sort: on disk if possible.
    let events = try examination.connection.prepare(
      """
      select subject, id, kind, stream, revision
      from event
      where kind between 1 and 4
      order by subject, id
      """)
    let floor = try examination.eventFloor
    var messageCount = 0
    var eventCount = 0
    var hasEvent = try events.step()
    while try messages.step() {
      let id = try messages.row.int(0)
      hasEvent = try skipOrphans(events, to: id, hasEvent, examination)
      var history = MessageHistory(
        id, in: try messages.row.int(1), isCut: floor > 0, isCopy: try messages.row.bool(4))
      while hasEvent, try events.row.int(0) == id {
        try history.add(events.row)
        eventCount += 1
        hasEvent = try events.step()
      }
      if let fault = history.fault(revision: try messages.row.int(2), isTombstone: try messages.row.bool(3)) {
        examination.fault(fault)
      }
      messageCount += 1
      try examination.step()
    }
    _ = try skipOrphans(events, to: .max, hasEvent, examination)
    examination.count(messageCount, "messages")
    examination.count(eventCount, "events of messages")
  }

  /// Reports events of missing messages.
  private static func skipOrphans(
    _ events: borrowing Statement, to message: Int, _ hasEvent: Bool, _ examination: Examination
  ) throws -> Bool {
    var hasEvent = hasEvent
    while hasEvent, try events.row.int(0) < message {
      examination.fault("event \(try events.row.int(1)) names missing message \(try events.row.int(0))")
      hasEvent = try events.step()
    }
    return hasEvent
  }
}

/// History of one message in the log.
private struct MessageHistory {
  private let message: Int
  private let stream: Int
  /// Expected revision of the message.
  private var revision = 0
  private var isTombstone = false
  /// The first fault.
  private var fault: String?
  /// Whether the beginning may have been removed from the log.
  private let isCut: Bool
  /// Whether it begins with the revision of its original.
  private let isCopy: Bool
  private var isKnown = false

  init(_ message: Int, in conversation: Int, isCut: Bool, isCopy: Bool) {
    self.message = message
    self.isCut = isCut
    self.isCopy = isCopy
    stream = EventStream.conversation(ID(conversation)).number
  }

  mutating func add(_ event: borrowing Row) throws {
    let id = try event.int(1)
    let kind = Event.Kind(rawValue: try event.int(2))
    let isFirst = revision == 0
    if isFirst, isCut || isCopy { revision = try event.int(4) - 1 }
    revision += 1
    let creates = isCopy ? isFirst && (!isCut || kind == .messageCreated) : revision == 1
    if creates || kind == .messageDeleted || kind == .messageRestored { isKnown = true }
    if (kind == .messageCreated) != creates {
      note(creates ? "its first event \(id) does not create it" : "its event \(id) creates it again")
    }
    if try event.int(3) != stream { note("its event \(id) is not in its conversation's stream") }
    if try event.int(4) != revision { note("its event \(id) has revision \(try event.int(4)) instead of \(revision)") }
    if kind == .messageDeleted { isTombstone = true }
    if kind == .messageRestored { isTombstone = false }
  }

  private mutating func note(_ sentence: String) {
    if fault == nil { fault = "message \(message): \(sentence)" }
  }

  func fault(revision recorded: Int, isTombstone isDeleted: Bool) -> String? {
    if let fault { return fault }
    if revision == 0 { return isCut ? nil : "message \(message): no event created it" }
    if revision != recorded {
      return "message \(message): it has revision \(recorded), but its events end at \(revision)"
    }
    if isKnown, isTombstone != isDeleted {
      return "message \(message): it \(isDeleted ? "is" : "is not") a tombstone, but its events disagree"
    }
    return nil
  }
}
