/// The checksum of IEEE 802.3, as in zip and PNG. It detects mistakes, not attacks.
public enum CRC32 {
  /// Bit by bit, sufficient for a few bytes.
  public static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { crc, byte in
      (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
    }
  }
}
