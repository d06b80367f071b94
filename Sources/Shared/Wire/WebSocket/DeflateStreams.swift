/// The zlib streams that the sessions of one worker share. A session without context takeover borrows an inflater from
/// the first byte of a compressed message to its last, and a deflater for one call; idle it holds neither.
public final class DeflateStreams {
  let level: Int
  private var idleInflaters: [Inflater] = []
  private var deflaters: [Int: Deflater] = [:]

  /// So many inflaters wait for the next message; more are made when messages arrive in parallel, and freed after.
  private static let idleInflaterLimit = 4
  /// zlib's measure of the hash table, which each message clears: this small one makes short messages cheap.
  static let memoryLevel = 5

  /// zlib's level 3 comes within a tenth of what 6 saves on long messages, in a third of its time.
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

  /// A payload that refers to nothing before it; nil when deflating does not make it shorter.
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

  /// Nil without memory: whoever asked sends uncompressed, which is always allowed.
  func makeDeflater(windowBits: Int) -> Deflater? {
    do throws(CompressionFault) {
      return try Deflater(level: level, windowBits: windowBits, memoryLevel: Self.memoryLevel)
    } catch {
      return nil
    }
  }
}
