/// Where shared buffers meet. What goes to many connections of a loop goes in the same order, so the same two buffers
/// follow each other on all of them: they are joined once, and all share what comes of it.
///
/// One pair is remembered, for whoever tells many of something tells all of it before the next. Buffers are known by where
/// they are; while they are remembered here, nothing else can be there.
struct Seam {
  private var first: [UInt8] = []
  private var second: [UInt8] = []
  private var joined: [UInt8] = []

  mutating func join(_ front: [UInt8], _ back: [UInt8]) -> [UInt8] {
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
