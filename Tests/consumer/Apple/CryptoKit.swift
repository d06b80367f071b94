// The declarations of Apple's CryptoKit that ParleyCrypto uses. They only let the compiler check that branch on Linux.

public protocol HashFunction {
  associatedtype Digest: Sequence<UInt8>
  init()
  mutating func update(bufferPointer: UnsafeRawBufferPointer)
  func finalize() -> Digest
}

public struct SHA256: HashFunction, Sendable {
  public init() {}
  public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
  public func finalize() -> [UInt8] { fatalError("not CryptoKit") }
}

public enum Insecure {
  public struct SHA1: HashFunction, Sendable {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> [UInt8] { fatalError("not CryptoKit") }
  }
}

public struct SymmetricKey: Sendable {
  public init(data: some Collection<UInt8>) {}
}

public struct HMAC<H: HashFunction> {
  public static func authenticationCode(for bytes: some Collection<UInt8>, using key: SymmetricKey) -> [UInt8] {
    fatalError("not CryptoKit")
  }
}
