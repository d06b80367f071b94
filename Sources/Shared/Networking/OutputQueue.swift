// The output queue of one connection. Buffers are immutable and shared: a frame for five hundred sockets is in memory
// once. Adjacent small buffers are joined, so that a pipelined batch takes one write; large buffers are never copied.
// Files are sent with sendfile(2).

import CParleyLinux
import Glibc

/// A range of an open file.
public struct FileSlice: Sendable {
  let descriptor: Int32
  /// Closes the file when it is released.
  let owner: any AnyObject & Sendable
  var offset: Int
  var count: Int

  public init(descriptor: Int32, owner: any AnyObject & Sendable, offset: Int, count: Int) {
    self.descriptor = descriptor
    self.owner = owner
    self.offset = offset
    self.count = count
  }
}

struct OutputQueue {
  enum Item {
    case bytes([UInt8], Ownership)
    case file(FileSlice)
  }

  enum Ownership {
    case own
    /// Other objects retain the buffer, too: the queues of other connections, or a cache.
    case shared
    /// Shared, and counted by the loop's memory.
    case counted
  }

  enum Outcome {
    case sentAll
    /// The allowed number of bytes was sent, and the socket would accept more.
    case sentSome
    case blocked
    case failed(SystemError)
  }

  /// The output that a write has left.
  struct Rest {
    /// Bytes sent by this write.
    var sent: Int
    /// Unsent bytes that only this queue references.
    var unshared: Int
    /// Writers that wait may continue.
    var hasDrained: Bool
    /// The shared buffers that stay exceed the budget of the memory.
    var exceedsBudget = false
  }

  /// The marks from which writers wait.
  var backpressure = Backpressure()
  private let memory: LoopMemory?
  private var items: [Item] = []
  /// The index of the first item that may be shared and uncounted.
  private var firstUncounted = 0
  /// The index of the first unsent item.
  private var head = 0
  /// Sent bytes of the first item.
  private var sent = 0
  /// Whether this queue has the only reference to the last buffer, so that appending does not copy it.
  private var isLastOwned = false
  /// Unsent bytes in memory.
  private(set) var count = 0
  /// Bytes of the unsent shared items.
  private var shared = 0
  /// Total bytes sent.
  private(set) var total = 0
  private var files = 0

  /// Maximum size of a joined buffer.
  private static let maxJoined = 8_192
  /// Maximum size of a joined shared buffer.
  private static let maxSharedJoined = 16_384
  /// Maximum buffers per `writev`.
  private static let maxBuffersPerWrite = 16

  /// - Parameter memory: counts the shared buffers that stay in the queue.
  init(_ memory: LoopMemory? = nil) { self.memory = memory }

  var isEmpty: Bool { head == items.count }

  /// Unsent bytes that only this queue references.
  var unshared: Int {
    guard head < items.count, case .bytes(_, let ownership) = items[head], ownership != .own else {
      return count - shared
    }
    return count - (shared - sent)
  }

  // Each access from the stream is checked at run time, so these return several values at once.

  /// Applies `append`. Returns the unsent bytes that only this queue references.
  mutating func enqueue(_ append: (inout OutputQueue) -> Void) -> Int {
    append(&self)
    backpressure.queued(count)
    return unshared
  }

  /// Writes to a socket; see `write`.
  mutating func flush(to descriptor: Int32, allowance: Int) -> (Outcome, Rest) {
    let before = total
    let outcome = write(to: descriptor, allowance: allowance)
    return (outcome, rest(since: before))
  }

  /// Counts the shared buffers that stay.
  /// - Parameter pending: unsent bytes that have left the queue.
  mutating func rest(since before: Int, pending: Int = 0) -> Rest {
    guard countShared() else { return Rest(sent: total - before, unshared: 0, hasDrained: false, exceedsBudget: true) }
    let hasDrained = backpressure.hasDrained(to: count + pending, hasFile: files > 0)
    return Rest(sent: total - before, unshared: unshared, hasDrained: hasDrained)
  }

  mutating func append(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    count += bytes.count
    let last = items.count - 1
    if last >= head, bytes.count < Self.maxJoined, case .bytes(var tail, let ownership) = items[last],
      tail.count + bytes.count <= Self.maxJoined
    {
      if ownership != .own { shared -= tail.count }
      if ownership == .counted { memory?.release(tail) }
      // Remove the buffer from the queue while it grows, so that its reference is unique.
      items[last] = .bytes([], .own)
      if !isLastOwned { tail.reserveCapacity(min(Self.maxJoined, 4 * (tail.count + bytes.count))) }
      tail.append(contentsOf: bytes)
      items[last] = .bytes(tail, .own)
      isLastOwned = true
      return
    }
    items.append(.bytes(bytes, .own))
    isLastOwned = false
  }

  /// Appends a buffer that other objects retain, too.
  mutating func append(retained bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    count += bytes.count
    shared += bytes.count
    items.append(.bytes(bytes, .shared))
    isLastOwned = false
  }

  /// Appends a broadcast buffer and joins it with the previous one if possible.
  mutating func append(shared bytes: [UInt8], with coalescing: CoalescingBuffer) {
    let last = items.count - 1
    guard last >= head, case .bytes(let tail, let ownership) = items[last], ownership != .own, !bytes.isEmpty,
      tail.count + bytes.count <= Self.maxSharedJoined
    else { return append(retained: bytes) }
    count += bytes.count
    shared += bytes.count
    if ownership == .counted { memory?.release(tail) }
    items[last] = .bytes(coalescing.join(tail, bytes), .shared)
    firstUncounted = min(firstUncounted, last)
  }

  /// Counts the shared buffers that stay in the queue after a write. Returns false above the budget.
  mutating func countShared() -> Bool {
    guard let memory, shared > 0 else { return true }
    for index in max(firstUncounted, head)..<items.count {
      firstUncounted = index
      guard case .bytes(let bytes, .shared) = items[index] else { continue }
      guard memory.retain(bytes, in: count) else { return false }
      items[index] = .bytes(bytes, .counted)
    }
    firstUncounted = items.count
    return true
  }

  mutating func append(_ slice: FileSlice) {
    guard slice.count > 0 else { return }
    items.append(.file(slice))
    files += 1
    isLastOwned = false
    backpressure.queuedFile()
  }

  mutating func removeAll() {
    for case .bytes(let bytes, .counted) in items[head...] { memory?.release(bytes) }
    items = []
    head = 0
    firstUncounted = 0
    sent = 0
    count = 0
    shared = 0
    files = 0
    isLastOwned = false
  }

  /// Writes until the queue is empty, the socket is full or `allowance` bytes are sent.
  mutating func write(to descriptor: Int32, allowance: Int = .max) -> Outcome {
    let bound = allowance < .max - total ? total + allowance : .max
    while head < items.count {
      guard total < bound else { return .sentSome }
      let written: Int
      switch items[head] {
      case .bytes:
        written = writeBuffers(descriptor, atMost: bound - total)
      case .file(var slice):
        written = send(slice, to: descriptor, atMost: bound - total)
        if written > 0 {
          slice.offset += written
          slice.count -= written
          total += written
          if slice.count == 0 { advance() } else { items[head] = .file(slice) }
        } else if written == 0 {
          // The file was truncated: the peer would wait forever.
          return .failed(SystemError("sendfile", code: EIO))
        }
      }
      if written < 0 {
        let code = errno
        if code == EINTR { continue }
        if code == EAGAIN { return .blocked }
        return .failed(SystemError("write", code: code))
      }
    }
    reset()
    return .sentAll
  }

  /// Writes the first buffers with one call. Returns the number of bytes, or -1.
  private mutating func writeBuffers(_ descriptor: Int32, atMost limit: Int) -> Int {
    var end = head + 1
    while end < items.count, end - head < Self.maxBuffersPerWrite, case .bytes = items[end] { end += 1 }
    let written: Int
    if end - head == 1, case .bytes(let bytes, _) = items[head] {
      written = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.send(
          descriptor, $0.baseAddress?.advanced(by: sent), min($0.count - sent, limit), Int32(MSG_NOSIGNAL))
      }
    } else {
      written = unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: Self.maxBuffersPerWrite) { vector in
        unsafe writeVector(descriptor, vector, from: head, to: end, filled: 0, atMost: limit)
      }
    }
    if written > 0 { consume(written) }
    return written
  }

  /// Recursive: each level pins one buffer, so that all addresses are valid during the call.
  private func writeVector(
    _ descriptor: Int32, _ vector: UnsafeMutableBufferPointer<iovec>, from: Int, to: Int, filled: Int,
    atMost limit: Int
  ) -> Int {
    guard from < to, limit > 0, case .bytes(let bytes, _) = items[from] else {
      return unsafe writev(descriptor, vector.baseAddress, Int32(filled))
    }
    return unsafe bytes.withUnsafeBytes { buffer in
      let skipped = filled == 0 ? sent : 0
      let length = min(buffer.count - skipped, limit)
      unsafe vector[filled] = iovec(
        iov_base: UnsafeMutableRawPointer(mutating: buffer.baseAddress?.advanced(by: skipped)), iov_len: length)
      return unsafe writeVector(
        descriptor, vector, from: from + 1, to: to, filled: filled + 1, atMost: limit - length)
    }
  }

  private mutating func consume(_ written: Int) {
    var left = written
    count -= written
    total += written
    while left > 0, head < items.count, case .bytes(let bytes, _) = items[head] {
      let rest = bytes.count - sent
      if left < rest {
        sent += left
        return
      }
      left -= rest
      advance()
    }
  }

  private mutating func advance() {
    if head == items.count - 1 {
      release(items.removeLast())
      return reset()
    }
    release(items[head])
    items[head] = .bytes([], .own)
    head += 1
    sent = 0
    if head >= 64, head * 2 >= items.count {
      items.removeFirst(head)
      firstUncounted = max(0, firstUncounted - head)
      head = 0
    }
  }

  private mutating func release(_ item: consuming Item) {
    switch item {
    case .file: files -= 1
    case .bytes(let bytes, let ownership):
      if ownership != .own { shared -= bytes.count }
      if ownership == .counted { memory?.release(bytes) }
    }
  }

  private mutating func reset() {
    // Keep a small array for reuse.
    if items.capacity > 16 { items = [] } else if !items.isEmpty { items.removeAll(keepingCapacity: true) }
    head = 0
    sent = 0
    firstUncounted = 0
    isLastOwned = false
  }

  private func send(_ slice: FileSlice, to descriptor: Int32, atMost limit: Int) -> Int {
    var offset = off_t(slice.offset)
    return unsafe sendfile(descriptor, slice.descriptor, &offset, min(slice.count, limit, 1 << 20))
  }

  // MARK: TLS

  /// Passes the next bytes, read from the file if necessary, to `body`, which returns the number of consumed bytes.
  /// - Returns: false if `body` consumed none, nil if the file could not be read.
  mutating func consumeNext(_ body: (UnsafeRawBufferPointer) -> Int) -> Bool? {
    guard head < items.count else { return false }
    switch items[head] {
    case .bytes(let bytes, _):
      let consumed = unsafe bytes.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
      guard consumed > 0 else { return false }
      consume(consumed)
      return true
    case .file(var slice):
      return unsafe withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 16) { buffer in
        let length = min(slice.count, 16_384)
        let count = unsafe pread(slice.descriptor, buffer.baseAddress, length, off_t(slice.offset))
        guard count > 0 else { return nil }
        let consumed = unsafe body(UnsafeRawBufferPointer(start: buffer.baseAddress, count: count))
        guard consumed > 0 else { return false }
        slice.offset += consumed
        slice.count -= consumed
        total += consumed
        if slice.count == 0 { advance() } else { items[head] = .file(slice) }
        return true
      }
    }
  }
}

/// Joins adjacent broadcast buffers once for all connections of a loop. Broadcasts have the same order on every
/// connection, so the same two buffers are adjacent in all queues, and the queues share the joined buffer.
///
/// Only the last pair is cached, because a broadcast is written to all connections before the next one. Buffers are
/// compared by address. The cache retains them, so their addresses are not reused.
final class CoalescingBuffer {
  private var first: [UInt8] = []
  private var second: [UInt8] = []
  private var joined: [UInt8] = []

  func join(_ front: [UInt8], _ back: [UInt8]) -> [UInt8] {
    if Self.isSame(back, second), Self.isSame(front, first) { return joined }
    var both: [UInt8] = []
    both.reserveCapacity(front.count + back.count)
    both.append(contentsOf: front)
    both.append(contentsOf: back)
    (first, second, joined) = (front, back, both)
    return both
  }

  private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return unsafe one.withUnsafeBufferPointer { one in
      unsafe other.withUnsafeBufferPointer { other in unsafe one.baseAddress == other.baseAddress }
    }
  }
}
