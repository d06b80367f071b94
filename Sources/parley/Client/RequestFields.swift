import ParleyJSON

/// A JSON value built from arguments such as `name=value`, `user[name]=value` and `ids[]=value`.
indirect enum RequestFields: Sendable {
  case value(JSONRaw)
  case object([(name: String, value: RequestFields)])
  case array([RequestFields])

  /// Adds a field. The parts of a key: a name, then names or nothing in brackets.
  mutating func set(_ key: String, _ value: JSONRaw) throws(Settings.UsageError) {
    let parts = try Self.parts(of: key)
    guard insert(parts[...], .value(value)) else {
      throw Settings.UsageError(message: "The field \(key) contradicts an earlier field.")
    }
  }

  private static func parts(of key: String) throws(Settings.UsageError) -> [String] {
    var parts = [String(key.prefix { $0 != "[" })]
    var rest = key.dropFirst(parts[0].count)
    while !rest.isEmpty {
      guard rest.first == "[", let end = rest.firstIndex(of: "]") else {
        throw Settings.UsageError(message: "The field \(key) is not of the form name, name[member] or name[].")
      }
      parts.append(String(rest[rest.index(after: rest.startIndex)..<end]))
      rest = rest[rest.index(after: end)...]
    }
    guard !parts[0].isEmpty else { throw Settings.UsageError(message: "A field needs a name: name=value.") }
    return parts
  }

  /// - Returns: false if the parts need an object or array where there is another value.
  private mutating func insert(_ parts: ArraySlice<String>, _ value: RequestFields) -> Bool {
    guard let part = parts.first else {
      self = value
      return true
    }
    let rest = parts.dropFirst()
    switch self {
    case .value: return false
    case .object(var members):
      guard !part.isEmpty else { return false }
      if let index = members.firstIndex(where: { $0.name == part }) {
        guard !rest.isEmpty, members[index].value.insert(rest, value) else { return false }
      } else {
        var member = Self.empty(for: rest)
        guard member.insert(rest, value) else { return false }
        members.append((part, member))
      }
      self = .object(members)
    case .array(var elements):
      guard part.isEmpty else { return false }
      // A name that the last element lacks belongs to it: `users[][id]=1 users[][role]=admin` is one user.
      if let last = elements.indices.last, !rest.isEmpty, elements[last].lacks(rest) {
        guard elements[last].insert(rest, value) else { return false }
      } else {
        var element = Self.empty(for: rest)
        guard element.insert(rest, value) else { return false }
        elements.append(element)
      }
      self = .array(elements)
    }
    return true
  }

  private static func empty(for parts: ArraySlice<String>) -> RequestFields {
    parts.first?.isEmpty == true ? .array([]) : .object([])
  }

  private func lacks(_ parts: ArraySlice<String>) -> Bool {
    switch self {
    case .object(let members):
      guard let member = members.first(where: { $0.name == parts.first }) else { return true }
      return parts.count > 1 && member.value.lacks(parts.dropFirst())
    case .array: return parts.first?.isEmpty == true
    case .value: return false
    }
  }

  /// The value of `--field`: `true`, `false`, `null` and numbers as JSON, any other text as a string.
  static func typed(_ text: String) -> JSONRaw {
    do throws(JSONError) {
      let value = try JSONValue(parsing: Array(text.utf8))
      switch value.kind {
      case .bool, .null, .number: return value.raw
      case .string, .object, .array: return string(text)
      }
    } catch {
      return string(text)
    }
  }

  static func string(_ text: String) -> JSONRaw {
    var json = JSONWriter()
    json.value(text)
    return JSONRaw(trusted: json.bytes)
  }
}

extension RequestFields: JSONWritable {
  func write(to json: inout JSONWriter) {
    switch self {
    case .value(let value): json.value(value)
    case .object(let members):
      json.object { json in
        for member in members { json.field(member.name, member.value) }
      }
    case .array(let elements):
      json.array { json in
        for element in elements { json.value(element) }
      }
    }
  }
}
