import ParleyJSON

/// A value as a tree, built only with the public reader and writer. Strings are bytes, so that canonically equivalent
/// strings are not equal.
indirect enum Tree: Hashable, JSONReadable, JSONWritable {
  case object([Member])
  case array([Tree])
  case string([UInt8])
  case number([UInt8])
  case bool(Bool)
  case null

  struct Member: Hashable {
    let name: [UInt8]
    let value: Tree
  }

  init(json value: JSONValue) throws(JSONError) {
    switch value.kind {
    case .object:
      var object = try value.object()
      var members: [Member] = []
      for (name, value) in object.members() {
        members.append(Member(name: Array(name.utf8), value: try Tree(json: value)))
      }
      self = .object(members)
    case .array: self = .array(try [Tree](json: value))
    case .string: self = .string(Array(try value.string().utf8))
    case .number: self = .number(value.raw.bytes)
    case .bool: self = .bool(try value.bool())
    case .null: self = .null
    }
  }

  func write(to json: inout JSONWriter) {
    switch self {
    case .object(let members):
      json.object { json in
        for member in members { json.field(String(decoding: member.name, as: UTF8.self), member.value) }
      }
    case .array(let elements): json.value(elements)
    case .string(let bytes): json.value(String(decoding: bytes, as: UTF8.self))
    case .number(let bytes): json.value(JSONRaw(trusted: bytes))
    case .bool(let bool): json.value(bool)
    case .null: json.null()
    }
  }
}
