// What waits to be sent on one connection. Buffers are shared and immutable: a frame for five hundred sockets stands
// in memory once. Small ones that follow each other are joined, so that a pipelined batch leaves in one write; large
// ones are never copied. A file is sent by the system from its own cache.

import CParleyLinux
import Glibc

/// A part of an open file, to be sent.
public struct FileSlice: Sendable {
  let descriptor: Int32
  /// Whatever closes the file when it is let go.
  let owner: any AnyObject & Sendable
  var offset: Int
  var count: Int

  public init(descriptor: Int32, keeping owner: any AnyObject & Sendable, offset: Int, count: Int) {
    self.descriptor = descriptor
    self.owner = owner
    self.offset = offset
    self.count = count
  }
}

struct OutputQueue {
  enum Item {
    /// Shared ones stand in memory once, whoever else has them waiting.
    case bytes([UInt8], isShared: Bool)
    case file(FileSlice)
  }

  enum Outcome {
    case sentAll
    /// The turn's share is sent, and the socket would take more.
    case sentSome
    case blocked
    case failed(SystemError)
  }

  private var items: [Item] = []
  /// Items before this one have been sent.
  private var head = 0
  /// Bytes of the first item that have been sent.
  private var sent = 0
  /// Whether the last item was made here, so that appending to it copies nothing shared.
  private var lastIsOwn = false
  /// Bytes in memory that wait.
  private(set) var count = 0
  /// Of the items that wait, bytes that others have as well.
  private var shared = 0
  /// Bytes that were ever sent.
  private(set) var total = 0
  private var files = 0

  /// Buffers below this are joined.
  private static let joined = 8_192
  /// The same of shared ones, which are joined once for all.
  private static let joinedForAll = 16_384
  /// How many buffers one system call takes.
  private static let gathered = 16

  var isEmpty: Bool { head == items.count }

  /// Bytes in memory that would be free without this queue.
  var held: Int {
    guard head < items.count, case .bytes(_, isShared: true) = items[head] else { return count - shared }
    return count - (shared - sent)
  }

  /// Whether a part of a file waits.
  var hasFile: Bool { files > 0 }

  mutating func append(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    count += bytes.count
    let last = items.count - 1
    if last >= head, bytes.count < Self.joined, case .bytes(var tail, let wasShared) = items[last],
      tail.count + bytes.count <= Self.joined
    {
      if wasShared { shared -= tail.count }
      // Take the buffer out of the queue while it grows, so that it is not copied.
      items[last] = .bytes([], isShared: false)
      if !lastIsOwn { tail.reserveCapacity(min(Self.joined, 4 * (tail.count + bytes.count))) }
      tail.append(contentsOf: bytes)
      items[last] = .bytes(tail, isShared: false)
      lastIsOwn = true
      return
    }
    items.append(.bytes(bytes, isShared: false))
    lastIsOwn = false
  }

  /// For what others have as well.
  mutating func append(kept bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    count += bytes.count
    shared += bytes.count
    items.append(.bytes(bytes, isShared: true))
    lastIsOwn = false
  }

  /// For what others send as well, perhaps after the same as before.
  mutating func append(shared bytes: [UInt8], at seam: inout Seam) {
    let last = items.count - 1
    guard last >= head, case .bytes(let tail, isShared: true) = items[last], !bytes.isEmpty,
      tail.count + bytes.count <= Self.joinedForAll
    else { return append(kept: bytes) }
    count += bytes.count
    shared += bytes.count
    items[last] = .bytes(seam.join(tail, bytes), isShared: true)
  }

  mutating func append(_ slice: FileSlice) {
    guard slice.count > 0 else { return }
    items.append(.file(slice))
    files += 1
    lastIsOwn = false
  }

  mutating func removeAll() {
    items = []
    head = 0
    sent = 0
    count = 0
    shared = 0
    files = 0
    lastIsOwn = false
  }

  /// Writes until nothing is left, the socket is full, or others should have their turn.
  mutating func write(to descriptor: Int32) -> Outcome {
    let bound = total + Stream.bytesPerTurn
    while head < items.count {
      guard total < bound else { return .sentSome }
      let written: Int
      switch items[head] {
      case .bytes:
        written = gather(descriptor)
      case .file(var slice):
        written = send(slice, to: descriptor)
        if written > 0 {
          slice.offset += written
          slice.count -= written
          total += written
          if slice.count == 0 { advance() } else { items[head] = .file(slice) }
        } else if written == 0 {
          // The file is shorter than was promised: the peer would wait for ever.
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

  /// Writes from the buffers at the front with one call; the number of bytes taken, or -1.
  private mutating func gather(_ descriptor: Int32) -> Int {
    var end = head + 1
    while end < items.count, end - head < Self.gathered, case .bytes = items[end] { end += 1 }
    let written: Int
    if end - head == 1, case .bytes(let bytes, _) = items[head] {
      written = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress?.advanced(by: sent), $0.count - sent)
      }
    } else {
      written = unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: Self.gathered) { vector in
        unsafe writeVector(descriptor, vector, from: head, to: end, filled: 0)
      }
    }
    if written > 0 { consume(written) }
    return written
  }

  /// Pins one buffer per level, so that every address stays good until the call is made.
  private func writeVector(
    _ descriptor: Int32, _ vector: UnsafeMutableBufferPointer<iovec>, from: Int, to: Int, filled: Int
  ) -> Int {
    guard from < to, case .bytes(let bytes, _) = items[from] else {
      return unsafe writev(descriptor, vector.baseAddress, Int32(filled))
    }
    return unsafe bytes.withUnsafeBytes { buffer in
      let skipped = filled == 0 ? sent : 0
      unsafe vector[filled] = iovec(
        iov_base: UnsafeMutableRawPointer(mutating: buffer.baseAddress?.advanced(by: skipped)),
        iov_len: buffer.count - skipped)
      return unsafe writeVector(descriptor, vector, from: from + 1, to: to, filled: filled + 1)
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
    switch items[head] {
    case .file: files -= 1
    case .bytes(let bytes, let isShared): if isShared { shared -= bytes.count }
    }
    items[head] = .bytes([], isShared: false)
    head += 1
    sent = 0
    if head == items.count {
      reset()
    } else if head >= 64, head * 2 >= items.count {
      items.removeFirst(head)
      head = 0
    }
  }

  private mutating func reset() {
    // An idle connection holds no buffer; a busy one keeps its small array.
    if items.capacity > 16 { items = [] } else { items.removeAll(keepingCapacity: true) }
    head = 0
    sent = 0
    lastIsOwn = false
  }

  private func send(_ slice: FileSlice, to descriptor: Int32) -> Int {
    var offset = off_t(slice.offset)
    return unsafe sendfile(descriptor, slice.descriptor, &offset, min(slice.count, 1 << 20))
  }

  // MARK: Through TLS

  /// Hands the next plain bytes to `body`, which says how many it took (0: none now); a file is read for it. False
  /// when nothing was taken, nil when the file could not be read.
  mutating func take(_ body: (UnsafeRawBufferPointer) -> Int) -> Bool? {
    guard head < items.count else { return false }
    switch items[head] {
    case .bytes(let bytes, _):
      let taken = unsafe bytes.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
      guard taken > 0 else { return false }
      consume(taken)
      return true
    case .file(var slice):
      return unsafe withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 16) { buffer in
        let wanted = min(slice.count, 16_384)
        let count = unsafe pread(slice.descriptor, buffer.baseAddress, wanted, off_t(slice.offset))
        guard count > 0 else { return nil }
        let taken = unsafe body(UnsafeRawBufferPointer(start: buffer.baseAddress, count: count))
        guard taken > 0 else { return false }
        slice.offset += taken
        slice.count -= taken
        total += taken
        if slice.count == 0 { advance() } else { items[head] = .file(slice) }
        return true
      }
    }
  }
}
