import ParleyModel
import ParleyWire

/// The parameters of a query. Unknown ones, and values of another form, are ignored.
struct LenientQuery {
  private let pairs: FormPairs

  init(_ text: String?) throws(Refusal) {
    do { pairs = try FormPairs(text ?? "") } catch { throw .invalid("query", .invalid) }
  }

  /// Nil also for an empty value.
  func text(_ name: String) -> String? { pairs[name].flatMap { $0.isEmpty ? nil : $0 } }

  func flag(_ name: String) -> Bool? { text(name).flatMap(LenientValue.flag) }

  func number(_ name: String) -> Int? { text(name).flatMap { LenientValue.number($0) } }

  /// The parts of a list, separated by commas, without spaces around them.
  func list(_ name: String) -> [String] { text(name).map(LenientValue.list) ?? [] }

  /// The ids of a list, in its order and with its duplicates. Others are left out.
  func ids<Thing>(_ name: String) throws(Refusal) -> [ID<Thing>] {
    let ids: [ID<Thing>] = list(name).compactMap { ID($0) }
    guard ids.count <= Self.maxIDs else { throw .invalid(name, .tooMany(limit: Self.maxIDs)) }
    return ids
  }

  static let maxIDs = 200
}

extension LenientValue {
  static func flag(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "1", "true": true
    case "0", "false": false
    default: nil
    }
  }

  static func list(_ text: String) -> [String] {
    text.split(separator: ",").map { part in
      String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }.filter { !$0.isEmpty }
  }
}
