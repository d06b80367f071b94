import ParleySQLite

// Words out of a closed list, as a table's check has them.

extension Row {
  func word<Word: RawRepresentable>(_ column: Int) throws -> Word where Word.RawValue == String {
    guard let word = Word(rawValue: try text(column)) else { throw unexpected(column) }
    return word
  }

  func optionalWord<Word: RawRepresentable>(_ column: Int) throws -> Word? where Word.RawValue == String {
    isNull(column) ? nil : try word(column)
  }

  func word<Word: RawRepresentable>(_ column: StaticString) throws -> Word where Word.RawValue == String {
    try word(try position(column))
  }

  func optionalWord<Word: RawRepresentable>(_ column: StaticString) throws -> Word? where Word.RawValue == String {
    try optionalWord(try position(column))
  }
}
