import ParleyJSON

/// A path into a JSON value: `data.0.title`, or `data.*.title` for all elements that have the member: a deleted message has no
/// text.
struct JSONPicker: Sendable {
  private let text: String
  private let steps: [String]

  /// The value has no such member or element.
  struct Missing: Error {
    let message: String
  }

  init(_ text: String) throws(Settings.UsageError) {
    steps = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    self.text = text
    guard steps.allSatisfy({ !$0.isEmpty }) else {
      throw Settings.UsageError(message: "--pick takes a path such as data.0.title or data.*.title, not \"\(text)\".")
    }
  }

  /// The picked values: strings as they are, others as JSON.
  func pick(from value: JSONValue) throws -> [String] {
    var values = [value]
    for step in steps {
      var next: [JSONValue] = []
      var missing: Missing?
      for value in values {
        do {
          next += try self.next(step, of: value)
        } catch let error as Missing {
          missing = missing ?? error
        }
      }
      if next.isEmpty, let missing { throw missing }
      values = next
    }
    return try values.map { value in
      value.kind == .string ? try value.string() : String(decoding: value.raw.compact.bytes, as: UTF8.self)
    }
  }

  private func next(_ step: String, of value: JSONValue) throws -> [JSONValue] {
    switch value.kind {
    case .object:
      var object = try value.object()
      if step == "*" { return object.members().map(\.value) }
      if let member = object.members().first(where: { $0.name == step }) { return [member.value] }
      throw Missing(
        message: "--pick \(text): there is no member \(step).\(Self.hint(step, object.members().map(\.name)))")
    case .array:
      let elements = try value.array()
      if step == "*" { return elements }
      if let index = Int(step), elements.indices.contains(index) { return [elements[index]] }
      throw Missing(
        message:
          "--pick \(text): there is no element \(step). The array has \(Amount.count(elements.count, "element")).")
    case .string, .number, .bool, .null:
      throw Missing(message: "--pick \(text): there is no \(step) in a \(value.kind.rawValue).")
    }
  }

  /// The nearest member, or the first ones.
  private static func hint(_ step: String, _ names: [String]) -> String {
    if let nearest = Spelling.nearest(to: step, in: names) { return " Did you mean \(nearest)?" }
    guard !names.isEmpty else { return " The object is empty." }
    let more = names.count > maxListed ? ", …" : ""
    return " Members: \(names.prefix(maxListed).joined(separator: ", "))\(more)."
  }

  private static let maxListed = 8
}
