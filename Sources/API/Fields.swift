import JSON

extension JSONObject {
  /// Text that `null` clears: nil leaves it as it is.
  mutating func clearable(_ name: String) throws(JSONError) -> String?? {
    let change: Change<String> = try self.change(name)
    return switch change {
    case .unchanged: .none
    case .cleared: .some(nil)
    case .set(let text): .some(text)
    }
  }
}
