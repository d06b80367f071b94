import ParleyModel
import ParleySQLite

/// The file that stores pictures on this device, separate from the cache's, and its size limit in bytes.
public struct PictureFile: Sendable {
  /// The folder of the pictures.
  public var path: String
  /// The most bytes on disk. Beyond it the oldest pictures are deleted.
  public var limit: Int

  /// Pictures in a folder, at most `limit` bytes.
  public init(_ path: String, limit: Int = 64 << 20) {
    self.path = path
    self.limit = limit
  }
}

/// One user's pictures in SQLite, evicted by least recent use. Sizes and times of use are in memory. The times are
/// written with the next picture, so a crash loses the latest ones.
final class PictureStore {
  private let connection: Connection
  private let limit: Int
  private var owner: ID<User>?
  private var entries: [String: Entry] = [:]
  private var size = 0
  private var now = 0
  private var touched: Set<String> = []

  private struct Entry {
    let size: Int
    var used: Int
  }

  init(_ file: PictureFile) throws(CacheFault) {
    limit = max(0, file.limit)
    connection = try .device(file.path, version: 1, schema: Self.schema, cacheKibibytes: 1_024)
    do {
      owner = try connection.first("select account from owner") { row in ID<User>(try row.int(0)) }
      let rows = try connection.all("select name, used, length(bytes) from picture") { row in
        (name: try row.text(0), used: try row.int(1), size: try row.int(2))
      }
      for row in rows {
        entries[row.name] = Entry(size: row.size, used: row.used)
        size += row.size
        now = max(now, row.used)
      }
    } catch { throw CacheFault(error) }
  }

  private static let schema = """
    create table picture (
      name text primary key,
      -- Grows with each look at any of them.
      used integer not null,
      bytes blob not null
    ) strict;
    create table owner (
      account integer not null
    ) strict;
    """

  func picture(_ name: String, of owner: ID<User>) throws(CacheFault) -> [UInt8]? {
    if let other = self.owner, other != owner { try erase() }
    guard entries[name] != nil else { return nil }
    now += 1
    entries[name]?.used = now
    touched.insert(name)
    do {
      return try connection.first("select bytes from picture where name = $1", name) { row in try row.bytes(0) }
    } catch { throw CacheFault(error) }
  }

  /// Pictures larger than half of the limit are not stored.
  func save(_ bytes: [UInt8], as name: String, of owner: ID<User>) throws(CacheFault) {
    if self.owner != owner { try erase() }
    guard bytes.count <= limit / 2, entries[name] == nil else { return }
    var evicted: [String] = []
    var left = size + bytes.count
    if left > limit {
      for (name, entry) in entries.sorted(by: { $0.value.used < $1.value.used }) {
        if left <= limit { break }
        evicted.append(name)
        left -= entry.size
      }
    }
    touched.subtract(evicted)
    do {
      try connection.transaction {
        if self.owner == nil { try connection.execute("insert into owner (account) values ($1)", owner.number) }
        for name in evicted { try connection.execute("delete from picture where name = $1", name) }
        for name in touched {
          try connection.execute("update picture set used = $1 where name = $2", entries[name]?.used ?? 0, name)
        }
        try connection.execute("insert into picture (name, used, bytes) values ($1, $2, $3)", name, now + 1, bytes)
      }
    } catch { throw CacheFault(error) }
    now += 1
    self.owner = owner
    for name in evicted { entries[name] = nil }
    entries[name] = Entry(size: bytes.count, used: now)
    size = left
    touched = []
  }

  /// Deletes the pictures with these names, and their bytes from the file.
  func remove(where isGone: (String) -> Bool) throws(CacheFault) {
    let names = entries.keys.filter(isGone)
    guard !names.isEmpty else { return }
    do {
      try connection.transaction {
        for name in names { try connection.execute("delete from picture where name = $1", name) }
      }
      for name in names { size -= entries.removeValue(forKey: name)?.size ?? 0 }
      touched.subtract(names)
      // The connection overwrites deleted bytes: no vacuum is needed.
      try connection.checkpoint(.truncate)
    } catch { throw CacheFault(error) }
  }

  func erase() throws(CacheFault) {
    do {
      try connection.transaction {
        try connection.execute("delete from picture")
        try connection.execute("delete from owner")
      }
      (owner, entries, size, touched) = (nil, [:], 0, [])
      try connection.execute("vacuum")
      try connection.checkpoint(.truncate)
    } catch { throw CacheFault(error) }
  }
}
