import ParleyJSON
import ParleySQLite

/// The first entry of a backup: its description.
struct BackupManifest: Equatable {
  /// Version of Parley that created it.
  let program: String
  /// Number of migrations of its database.
  let schema: Int
  let epoch: String
  /// In milliseconds since 1970.
  let createdAt: Int
  /// Rows per table.
  let counts: [String: Int]

  static let format = 1
  /// Size limit in bytes, larger than any manifest written.
  static let maxBytes = 65_536
  /// Maximum of the time in a tar header.
  private static let maxTime = 0o777_7777_7777 * 1_000

  var bytes: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.field("format", Self.format)
      json.field("program", program)
      json.field("schema", schema)
      json.field("epoch", epoch)
      json.field("created_at", createdAt)
      json.object("counts") { json in
        for (table, count) in counts.sorted(by: { $0.key < $1.key }) { json.field(table, count) }
      }
    }
    return json.bytes + [UInt8(ascii: "\n")]
  }

  init(program: String, schema: Int, epoch: String, createdAt: Int, counts: [String: Int]) {
    self.program = program
    self.schema = schema
    self.epoch = epoch
    self.createdAt = createdAt
    self.counts = counts
  }

  /// Accepts canonical bytes only: encoding the parsed manifest must give the same bytes.
  init(reading bytes: [UInt8]) throws(BackupDamage) {
    let format: Int
    do throws(JSONError) {
      var object = try JSONValue(parsing: bytes).object()
      format = try object.int("format")
    } catch {
      throw .badManifest
    }
    // A newer format may have other members.
    guard format == Self.format else { throw .newerFormat(format) }
    do throws(JSONError) {
      var object = try JSONValue(parsing: bytes).object()
      program = try object.string("program")
      schema = try object.int("schema", in: 1...Int.max)
      epoch = try object.string("epoch")
      createdAt = try object.int("created_at", in: 0...Self.maxTime)
      var tables = try object.object("counts")
      var counts: [String: Int] = [:]
      for (table, count) in tables.members() { counts[table] = try count.int() }
      self.counts = counts
    } catch {
      throw .badManifest
    }
    guard self.bytes == bytes else { throw .badManifest }
  }
}

extension Connection {
  /// Number of rows per table.
  func counts() throws -> [String: Int] {
    let tables = try all(
      """
      select name
      from pragma_table_list
      where schema = 'main' and type = 'table' and name not like 'sqlite!_%' escape '!'
      order by name
      """
    ) { row in try row.text(0) }
    var counts: [String: Int] = [:]
    for table in tables {
      counts[table] = try first(SQL("select count(*) from \(Self.quoted(table))")) { row in try row.int(0) } ?? 0
    }
    return counts
  }

  /// A quoted SQL identifier. A foreign database may use any table name.
  static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

  static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
}
