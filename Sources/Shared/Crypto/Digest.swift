/// An incremental digest. For bytes in memory use `Digest.sha256(of:)`.
///
///     var digest = try Digest(.sha256)
///     while let piece = try next() { try digest.update(piece) }
///     let name = Hex.text(try digest.finish())
public struct Digest: ~Copyable {
  public enum Algorithm: Hashable, Sendable {
    /// Only for the handshake of RFC 6455 §4.2.2: SHA-1 is broken.
    case sha1
    case sha256
    #if !canImport(CryptoKit)
    /// BLAKE2b (RFC 7693) of 64 bytes, for signatures of minisign. CryptoKit does not have it.
    case blake2b
    #endif

    public var byteCount: Int {
      switch self {
      case .sha1: 20
      case .sha256: 32
      #if !canImport(CryptoKit)
      case .blake2b: 64
      #endif
      }
    }
  }

  private var context: DigestContext

  public init(_ algorithm: Algorithm) throws(CryptoError) { context = try DigestContext(algorithm) }

  public mutating func update(_ bytes: Span<UInt8>) throws(CryptoError) { try context.update(bytes) }

  public mutating func update(_ bytes: [UInt8]) throws(CryptoError) { try context.update(bytes.span) }

  public consuming func finish() throws(CryptoError) -> [UInt8] { try context.finish() }
}

extension Digest {
  public static func sha1(of bytes: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    try CryptoLibrary.digest(.sha1, bytes)
  }

  public static func sha1(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] { try sha1(of: bytes.span) }

  public static func sha256(of bytes: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    try CryptoLibrary.digest(.sha256, bytes)
  }

  public static func sha256(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] { try sha256(of: bytes.span) }
}

/// The checksum of IEEE 802.3, as in zip and PNG. It detects mistakes, not attacks.
public struct CRC32: Sendable {
  private var remainder = UInt32.max

  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
  }

  public init() {}

  public mutating func update(_ bytes: Span<UInt8>) {
    let table = Self.table
    for index in bytes.indices {
      remainder = table[Int(UInt8(truncatingIfNeeded: remainder) ^ bytes[index])] ^ remainder >> 8
    }
  }

  public var value: UInt32 { ~remainder }

  public static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var checksum = CRC32()
    checksum.update(bytes.span)
    return checksum.value
  }
}
