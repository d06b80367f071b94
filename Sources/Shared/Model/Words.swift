public import ParleyJSON

// JSON strings from a closed list of words.

extension JSONObject {
  public mutating func word<Word: RawRepresentable>(
    _ name: String
  ) throws(JSONError) -> Word where Word.RawValue == String {
    try value(name).word()
  }

  /// Nil if the member is absent, or `null` where the document permits that.
  public mutating func optionalWord<Word: RawRepresentable>(
    _ name: String
  ) throws(JSONError) -> Word? where Word.RawValue == String {
    try optional(name) { value throws(JSONError) in try value.word() }
  }
}

extension JSONValue {
  public func word<Word: RawRepresentable>() throws(JSONError) -> Word where Word.RawValue == String {
    guard let word = Word(rawValue: try string()) else { throw error(.invalid) }
    return word
  }
}
