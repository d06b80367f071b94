/// What can stand in a JSON text. Values of the domain conform with one function, which writes exactly one value.
public protocol JSONWritable {
  func write(to json: inout JSONWriter)
}

extension String: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) { json.string(self) }
}

extension Bool: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) { json.token(self ? JSONToken.yes : JSONToken.no) }
}

extension Int: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) {
    json.integer(UInt64(magnitude), isNegative: self < 0)
  }
}

extension Int64: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) { json.integer(magnitude, isNegative: self < 0) }
}

extension UInt64: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) { json.integer(self, isNegative: false) }
}

/// The shortest digits that read back as the same number. JSON has none for infinity and for what is not a number:
/// they are written as null.
extension Double: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) {
    json.token(isFinite ? description : "null")
  }
}

extension JSONRaw: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) { json.raw(bytes[...]) }
}

/// Writes back what was read, as it came.
extension JSONValue: JSONWritable {
  public func write(to json: inout JSONWriter) { json.raw(text[node.range]) }
}

extension Optional: JSONWritable where Wrapped: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) {
    if let self { self.write(to: &json) } else { json.null() }
  }
}

extension Array: JSONWritable where Element: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) {
    json.array { json in
      for element in self { json.value(element) }
    }
  }
}
