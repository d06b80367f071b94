/// The zlib streams shared by the sessions of one worker. A session without context takeover borrows an inflater for
/// the duration of a compressed message and a deflater for one call. An idle session has neither.
public final class DeflateStreams {
  let level: Int
  private var idleInflaters: [Inflater] = []
  private var deflaters: [Int: Deflater] = [:]

  /// The number of pooled inflaters. More are created for messages in parallel, and freed afterwards.
  private static let idleInflaterLimit = 4
  /// zlib's memory level. Each message clears the hash table, so a small one makes short messages cheap.
  static let memoryLevel = 5

  /// Level 3 saves within a tenth of level 6 on long messages, in a third of the time.
  public init(level: Int = 3) { self.level = level }

  func borrowInflater() throws(CompressionFault) -> Inflater {
    if let inflater = idleInflaters.popLast() { return inflater }
    return try Inflater(windowBits: 15)
  }

  func giveBack(_ inflater: Inflater) {
    guard idleInflaters.count < Self.idleInflaterLimit else { return }
    inflater.reset()
    idleInflaters.append(inflater)
  }

  /// Compresses a payload without reference to earlier ones. Returns nil if that does not make it shorter.
  func deflateAlone(_ message: Span<UInt8>, windowBits: Int) -> [UInt8]? {
    guard let deflater = deflater(windowBits: windowBits) else { return nil }
    guard let payload = try? deflater.deflate(message: message) else {
      deflaters[windowBits] = nil
      return nil
    }
    deflater.reset()
    return payload.count < message.count ? payload : nil
  }

  private func deflater(windowBits: Int) -> Deflater? {
    if let deflater = deflaters[windowBits] { return deflater }
    let deflater = makeDeflater(windowBits: windowBits)
    deflaters[windowBits] = deflater
    return deflater
  }

  /// Nil if out of memory. The caller then sends uncompressed, which is always allowed.
  func makeDeflater(windowBits: Int) -> Deflater? {
    do throws(CompressionFault) {
      return try Deflater(level: level, windowBits: windowBits, memoryLevel: Self.memoryLevel)
    } catch {
      return nil
    }
  }
}
