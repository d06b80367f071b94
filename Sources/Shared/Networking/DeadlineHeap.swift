/// A binary heap of deadlines, the earliest first. Entries may be stale; the reactor checks them on removal.
struct DeadlineHeap {
  struct Entry {
    let at: Int64
    let descriptor: Int32
    let generation: UInt32
  }

  private var entries: [Entry] = []

  var first: Entry? { entries.first }

  mutating func push(_ entry: Entry) {
    entries.append(entry)
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].at < entries[parent].at else { break }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  mutating func removeFirst() {
    guard let last = entries.popLast(), !entries.isEmpty else { return }
    entries[0] = last
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < entries.count else { break }
      let right = left + 1
      let child = right < entries.count && entries[right].at < entries[left].at ? right : left
      guard entries[child].at < entries[parent].at else { break }
      entries.swapAt(child, parent)
      parent = child
    }
  }
}
