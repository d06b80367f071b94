/// The fields of a header (RFC 5322 §2.2), unfolded. Lines that are no fields are left out.
struct MailHeader {
  private var fields: [(name: String, value: String)] = []

  /// Reads the fields up to the empty line, and moves `position` behind it.
  init(_ bytes: ArraySlice<UInt8>, from position: inout Int) {
    var value: [UInt8] = []
    var name: String?
    let end = min(bytes.endIndex, position + MailLimits.header)
    while position < bytes.endIndex {
      let line = bytes.line(at: position)
      position = line.next
      if line.content.isEmpty { break }
      guard position <= end, fields.count < MailLimits.fields else { continue }
      if line.content.first == UInt8(ascii: " ") || line.content.first == UInt8(ascii: "\t") {
        value += line.content
        continue
      }
      add(name, value)
      (name, value) = (nil, [])
      guard let colon = line.content.firstIndex(of: UInt8(ascii: ":")) else { continue }
      let word = line.content[..<colon]
      // RFC 5322 §3.6.8: printable ASCII. Some old programs leave a space before the colon.
      guard !word.isEmpty, word.allSatisfy({ $0 > 31 && $0 < 127 }) else { continue }
      name = String(decoding: word, as: UTF8.self).trimmed.lowercased()
      value = Array(line.content[(colon + 1)...])
    }
    add(name, value)
  }

  private mutating func add(_ name: String?, _ value: [UInt8]) {
    if let name { fields.append((name, String(decoding: value, as: UTF8.self).trimmed)) }
  }

  /// The value of the first field with a name, in lower case.
  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  func has(_ name: String) -> Bool { fields.contains { $0.name == name } }
}

/// A value with parameters, such as that of `Content-Type` (RFC 2045 §5.1).
struct ParameterizedValue {
  /// In lower case.
  let value: String
  private var parameters: [String: String] = [:]

  init(_ text: String) {
    var rest = text[...]
    value = String(rest.prefix { $0 != ";" }).trimmed.lowercased()
    rest = rest.dropFirst(text.prefix { $0 != ";" }.count)
    while rest.first == ";" {
      rest.removeFirst()
      let name = String(rest.prefix { $0 != "=" && $0 != ";" })
      rest = rest.dropFirst(name.count)
      guard rest.first == "=" else { continue }
      rest.removeFirst()
      rest = rest.drop { $0 == " " || $0 == "\t" }
      var content = ""
      if rest.first == "\"" {
        rest.removeFirst()
        while let character = rest.popFirst(), character != "\"" {
          content.append(character == "\\" ? rest.popFirst() ?? "\\" : character)
        }
        rest = rest.drop { $0 != ";" }
      } else {
        content = String(rest.prefix { $0 != ";" })
        rest = rest.dropFirst(content.count)
        content = content.trimmed
      }
      let key = name.trimmed.lowercased()
      if parameters[key] == nil { parameters[key] = content }
    }
  }

  subscript(name: String) -> String? { parameters[name] }
}

extension String {
  /// Without spaces and tabs at both ends.
  var trimmed: String {
    let kept = drop { $0 == " " || $0 == "\t" }
    guard let last = kept.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return String(kept[...last])
  }
}

extension ArraySlice<UInt8> {
  /// The line that begins at a position, without its end, and the position of the next.
  func line(at start: Int) -> (content: ArraySlice<UInt8>, next: Int) {
    let end = self[start...].firstIndex(of: UInt8(ascii: "\n")) ?? endIndex
    let hasReturn = end > start && self[end - 1] == UInt8(ascii: "\r")
    return (self[start..<(hasReturn ? end - 1 : end)], Swift.min(end + 1, endIndex))
  }
}
