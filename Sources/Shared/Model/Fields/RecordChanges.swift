public import ParleyJSON

extension Record {
  /// The fields that differ from an earlier state, for the audit log: objects with `field`, `from` and `to`.
  ///
  /// - Parameters:
  ///   - texts: the texts of which the values are written. Of the others the log has the name only, since it is never
  ///     erased.
  ///   - names: the fields that are compared; nil for all.
  ///   - prefix: the path to a record within a record.
  public func changes(
    since before: Self, texts: Set<String> = [], only names: Set<String>? = nil, prefix: String = ""
  ) -> [JSONRaw] {
    var comparer = ChangeWriter(before: before, texts: texts, names: names, prefix: prefix)
    var record = self
    record.visitFields(&comparer)
    return comparer.changes
  }
}

private struct ChangeWriter<Visited: Record>: FieldVisitor {
  let before: Visited
  let texts: Set<String>
  let names: Set<String>?
  let prefix: String
  var changes: [JSONRaw] = []

  mutating func field<Value: FieldValue>(
    _ name: String, _ value: inout Value, _ path: any WritableKeyPath<Visited, Value> & Sendable, column: String?,
    in bounds: ClosedRange<Int>?
  ) {
    let (old, new) = (before[keyPath: path], value)
    guard old != new, names?.contains(name) ?? true else { return }
    let isText = Value.self is String.Type || Value.self is String?.Type
    var json = JSONWriter()
    json.object { json in
      json.field("field", prefix + name)
      guard !isText || texts.contains(name) else { return }
      old.writeField("from", to: &json)
      new.writeField("to", to: &json)
    }
    changes.append(JSONRaw(trusted: json.bytes))
  }
}

extension ForumRole {
  /// The change of a member's role, as `Record.changes` writes fields.
  public func change(from old: ForumRole?) -> JSONRaw {
    var json = JSONWriter()
    json.object { json in
      json.field("field", "role")
      json.field("from", old?.rawValue)
      json.field("to", rawValue)
    }
    return JSONRaw(trusted: json.bytes)
  }
}
