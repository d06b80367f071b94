public import CFaultyVFS
public import ParleySQLite

/// A disk that loses power, fills up and fails on command. Its connections must be closed before `deinit`.
public final class FaultyDisk {
  public let name: String
  private let disk: OpaquePointer

  public struct NoMemory: Error {}

  public init(seed: UInt64, losing loss: faulty_loss = FAULTY_LOSE_SECTORS) throws {
    name = "faulty-\(seed)-\(UInt64.random(in: 0...UInt64.max))"
    guard let disk = faulty_vfs_create(name, seed, loss) else { throw NoMemory() }
    self.disk = disk
  }

  deinit { faulty_vfs_destroy(disk) }

  public func writer(_ path: String, checkpointPages: Int = 1_000) throws(SQLiteError) -> Connection {
    var options = Connection.Options()
    options.vfs = name
    options.checkpointPages = checkpointPages
    return try Connection.writer(path, options)
  }

  public func reader(_ path: String) throws(SQLiteError) -> Connection {
    var options = Connection.Options()
    options.vfs = name
    return try Connection.reader(path, options)
  }

  public func cutPower() { faulty_vfs_cut_power(disk) }

  public func cutPower(at operation: Int) { faulty_vfs_cut_power_at(disk, Int64(operation)) }

  public var hasPower: Bool { faulty_vfs_is_without_power(disk) == 0 }

  /// Fails `times` operations of a kind with an SQLite result code, starting with the `nth` from now; -1: all further
  /// ones.
  public func fail(_ kind: faulty_kind, nth: Int = 1, times: Int = 1, code: Int32) {
    faulty_vfs_fail(disk, kind, Int64(nth), Int64(times), code)
  }

  public func heal() { faulty_vfs_heal(disk) }

  public func ignoreSyncs() { faulty_vfs_ignore_syncs(disk, 1) }

  public func count(_ kind: faulty_kind) -> Int { Int(faulty_vfs_count(disk, kind)) }

  public var hits: Int { Int(faulty_vfs_hits(disk)) }
}

/// SQLite's result codes that the tests inject.
public enum Code {
  public static let full: Int32 = 13
  public static let readFailed: Int32 = 266
  public static let shortRead: Int32 = 522
  public static let writeFailed: Int32 = 778
  public static let syncFailed: Int32 = 1_034
  public static let truncateFailed: Int32 = 1_546
}
