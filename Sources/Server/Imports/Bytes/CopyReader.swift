/// Reads the rows of the tables of a dump by `pg_dump`, in its text format: `COPY public.posts (id, …) FROM stdin;`, a line per
/// row, and `\.`.
struct CopyReader {
  enum Item {
    case table(String, columns: [String])
    /// The values in the order of the columns; nil for NULL.
    case row([String?])
    case end
  }

  private var lines: LineReader
  private let name: String
  private let wanted: Set<String>
  /// The table whose rows follow; empty for another one.
  private var table: String?
  private var columnCount = 0

  init(_ source: any ByteSource, _ name: String, tables wanted: Set<String>) {
    lines = LineReader(source, name)
    self.name = name
    self.wanted = wanted
  }

  /// The offset of the next line.
  var offset: Int { lines.offset }

  mutating func next() throws(ImportFault) -> Item? {
    while let line = try lines.next() {
      guard let table else {
        guard let (name, columns) = Self.header(line) else { continue }
        self.table = name
        columnCount = columns.count
        if wanted.contains(name) { return .table(name, columns: columns) }
        continue
      }
      if line == [0x5c, 0x2e] {
        self.table = nil
        if wanted.contains(table) { return .end }
        continue
      }
      if wanted.contains(table) { return .row(try Self.values(line, count: columnCount, name)) }
    }
    if let table { throw ImportFault("\(name) is cut in the table \(table). Copy the backup again.") }
    return nil
  }

  /// The values of a row.
  static func values(_ line: [UInt8], count: Int, _ name: String) throws(ImportFault) -> [String?] {
    var values: [String?] = []
    values.reserveCapacity(count)
    for field in line.split(separator: 0x09, omittingEmptySubsequences: false) {
      values.append(field.elementsEqual([0x5c, 0x4e]) ? nil : decoded(field))
    }
    guard values.count == count else {
      throw ImportFault("\(name) is damaged: a row has \(values.count) values instead of \(count). Make a new backup.")
    }
    return values
  }

  /// The escapes of COPY (PostgreSQL, "COPY", "Text Format").
  private static func decoded(_ field: ArraySlice<UInt8>) -> String {
    guard field.contains(0x5c) else { return String(decoding: field, as: UTF8.self) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(field.count)
    var index = field.startIndex
    while index < field.endIndex {
      let byte = field[index]
      index += 1
      guard byte == 0x5c, index < field.endIndex else {
        bytes.append(byte)
        continue
      }
      let next = field[index]
      index += 1
      switch next {
      case UInt8(ascii: "n"): bytes.append(0x0a)
      case UInt8(ascii: "t"): bytes.append(0x09)
      case UInt8(ascii: "r"): bytes.append(0x0d)
      case UInt8(ascii: "b"): bytes.append(0x08)
      case UInt8(ascii: "f"): bytes.append(0x0c)
      case UInt8(ascii: "v"): bytes.append(0x0b)
      default: bytes.append(next)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The table and the columns of a line that begins its rows.
  private static func header(_ line: [UInt8]) -> (String, [String])? {
    guard line.starts(with: Array("COPY ".utf8)), line.count < 65_536 else { return nil }
    let text = String(decoding: line, as: UTF8.self)
    guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"), open < close,
      text[close...].dropFirst() == " FROM stdin;"
    else { return nil }
    let name = text[text.index(text.startIndex, offsetBy: 5)..<open].split(separator: " ").first.map(unquoted) ?? ""
    let columns = text[text.index(after: open)..<close].split(separator: ",").map { unquoted($0.drop { $0 == " " }) }
    return (name.split(separator: ".").last.map(String.init) ?? name, columns)
  }

  private static func unquoted(_ name: Substring) -> String { String(name.filter { $0 != "\"" }) }
}
