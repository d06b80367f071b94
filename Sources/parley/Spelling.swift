/// Suggestions for mistyped names of commands, options and variables.
enum Spelling {
  private static let maxTypedName = 40
  /// The maximum number of changed letters.
  private static let maxDistance = 3
  /// The minimum length of a typed name that stands for a longer one.
  private static let minPrefix = 3

  /// The name that was probably meant: at most a third of its letters differ, or it is the only name that begins or ends with them.
  static func nearest(to typed: String, in names: [String]) -> String? {
    let typed = typed.prefix(maxTypedName).lowercased()
    let distances = names.map { (name: $0, distance: distance(typed, $0.lowercased())) }
    if let nearest = distances.min(by: { $0.distance < $1.distance }) {
      let length = nearest.name.drop { $0 == "-" }.count
      if nearest.distance <= max(1, min(maxDistance, length / 3)) { return nearest.name }
    }
    let longer = names.map { (name: $0, text: $0.lowercased()) }
      .filter { $0.text.hasPrefix(typed) || $0.text.hasSuffix(typed) }.map(\.name)
    return typed.drop { $0 == "-" }.count >= minPrefix && longer.count == 1 ? longer[0] : nil
  }

  /// The number of letters to insert, delete, replace or swap with the next (restricted Damerau–Levenshtein distance).
  private static func distance(_ one: String, _ other: String) -> Int {
    let (one, other) = (Array(one), Array(other))
    var rows = [Array(0...other.count)]
    for row in 1..<one.count + 1 {
      var line = [row]
      for column in 1..<other.count + 1 {
        var best = min(rows[row - 1][column], line[column - 1]) + 1
        best = min(best, rows[row - 1][column - 1] + (one[row - 1] == other[column - 1] ? 0 : 1))
        if row > 1, column > 1, one[row - 1] == other[column - 2], one[row - 2] == other[column - 1] {
          best = min(best, rows[row - 2][column - 2] + 1)
        }
        line.append(best)
      }
      rows.append(line)
    }
    return rows[one.count][other.count]
  }
}
