/// A type that can be written as JSON. Domain types conform with one function, which writes exactly one value.
public protocol JSONWritable {
  /// Encodes the value, as one JSON value.
  func write(to json: inout JSONWriter)
}

extension String: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) { json.string(self) }
}

extension Bool: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) { json.bool(self) }
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

/// Writes the shortest digits that read back as the same number. JSON cannot represent infinity and NaN: they are
/// written as null.
extension Double: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) {
    json.token(isFinite ? description : "null")
  }
}

extension JSONRaw: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) { json.raw(bytes[...]) }
}

/// Writes the value's bytes unchanged.
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
