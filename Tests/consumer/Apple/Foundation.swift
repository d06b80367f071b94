// The declarations of Foundation that ParleyKit and its store for the keychain use. They only let the compiler check those lines
// for macOS on Linux.

public struct Date: Sendable, Hashable {
  public init(timeIntervalSince1970: Double) {}
  public var timeIntervalSince1970: Double { fatalError("not Foundation") }
}

public protocol LocalizedError: Error {
  var errorDescription: String? { get }
}

public struct Data: Sendable, Hashable, Sequence {
  public init(_ bytes: [UInt8]) {}
  public func makeIterator() -> IndexingIterator<[UInt8]> { fatalError("not Foundation") }
}
