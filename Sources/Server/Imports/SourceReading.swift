import ParleyJSON

/// Reads values of JSON that another program wrote. A missing, null or odd optional member is absent.
extension JSONObject {
  mutating func text(_ name: String) -> String? {
    guard let value = member(name), !value.isNull else { return nil }
    do throws(JSONError) { return try value.string() } catch { return nil }
  }

  /// A text that is not empty.
  mutating func words(_ name: String) -> String? {
    guard let text = text(name), !text.isEmpty else { return nil }
    return text
  }

  /// An id, which some programs write as a number.
  mutating func key(_ name: String) -> String? {
    guard let value = member(name), !value.isNull else { return nil }
    do throws(JSONError) {
      let text = value.kind == .number ? String(try value.int()) : try value.string()
      return SourceKey.isValid(text) ? text : nil
    } catch { return nil }
  }

  mutating func number(_ name: String) -> Int? {
    guard let value = member(name), !value.isNull else { return nil }
    do throws(JSONError) { return try value.int() } catch { return nil }
  }

  mutating func flag(_ name: String) -> Bool {
    guard let value = member(name), !value.isNull else { return false }
    do throws(JSONError) { return try value.bool() } catch { return false }
  }

  mutating func part(_ name: String) -> JSONObject? {
    guard let value = member(name), value.kind == .object else { return nil }
    do throws(JSONError) { return try value.object() } catch { return nil }
  }

  mutating func list(_ name: String) -> [JSONValue] {
    guard let value = member(name), value.kind == .array else { return [] }
    do throws(JSONError) { return try value.array() } catch { return [] }
  }

  mutating func parts(_ name: String) -> [JSONObject] { list(name).compactMap { $0.part } }

  mutating func texts(_ name: String) -> [String] { list(name).compactMap { $0.words } }
}

extension JSONValue {
  var part: JSONObject? {
    guard kind == .object else { return nil }
    do throws(JSONError) { return try object() } catch { return nil }
  }

  var words: String? {
    guard kind == .string else { return nil }
    do throws(JSONError) { return try string() } catch { return nil }
  }
}

/// Ids of a source. They become part of a `client_id`.
enum SourceKey {
  private static let maxBytes = 24

  static func isValid(_ text: String) -> Bool {
    (1...maxBytes).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}
