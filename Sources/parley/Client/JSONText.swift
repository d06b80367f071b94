import ParleyJSON

/// JSON for people: members and elements on lines of their own.
enum JSONText {
  static func indented(_ value: JSONValue) throws(JSONError) -> String {
    var text = ""
    try write(value, 0, to: &text)
    return text + "\n"
  }

  private static func write(_ value: JSONValue, _ depth: Int, to text: inout String) throws(JSONError) {
    let indentation = String(repeating: "  ", count: depth + 1)
    switch value.kind {
    case .object:
      var object = try value.object()
      let members = object.members()
      guard !members.isEmpty else { return text += "{}" }
      text += "{\n"
      for (index, member) in members.enumerated() {
        text += indentation + String(decoding: RequestFields.string(member.name).bytes, as: UTF8.self) + ": "
        try write(member.value, depth + 1, to: &text)
        text += index == members.count - 1 ? "\n" : ",\n"
      }
      text += indentation.dropLast(2) + "}"
    case .array:
      let elements = try value.array()
      guard !elements.isEmpty else { return text += "[]" }
      text += "[\n"
      for (index, element) in elements.enumerated() {
        text += indentation
        try write(element, depth + 1, to: &text)
        text += index == elements.count - 1 ? "\n" : ",\n"
      }
      text += indentation.dropLast(2) + "]"
    case .string, .number, .bool, .null: text += String(decoding: value.raw.bytes, as: UTF8.self)
    }
  }
}
