import Foundation
import Testing

/// Comments of the client libraries and of the modules that ParleyKit re-exports. Their readers have no other description of a
/// declaration in their editor.
@Suite struct DocumentationCommentTests {
  private static let modifiers =
    #"(?:(?:static|final|mutating|nonisolated|indirect|(?:package|internal|private)\(set\)) )*"#
  private static let kinds = "(?:func|var|let|init|struct|class|enum|actor|protocol|typealias|subscript)"

  private static let folders = ["Sources/Kit", "Sources/Shared/Model", "Sources/Shared/JSON", "Sources/Shared/Markup"]

  /// Requirements of protocols of the standard library and of JSON, which describe them.
  private static let inherited = [
    "init(json", "func write(to", "init(from decoder", "func encode(to", "var description", "init(stringLiteral",
    "init(rawValue", "let rawValue", "typealias Element", "typealias Failure", "func makeAsyncIterator",
    "struct Iterator", "mutating func next(", "var errorDescription",
  ]

  /// The lines of the cases of public enums, by the indentation of swift-format.
  private static func cases(in lines: [Substring]) throws -> Set<Int> {
    let enumeration = try Regex("^(?:@\\w+(?:\\([^)]*\\))? )*public (?:indirect )?enum \\w")
    let other = try Regex("^(?:@\\w+(?:\\([^)]*\\))? )*(?:(?:package|private|fileprivate) )?(?:indirect )?enum \\w")
    var open: [(indentation: Int, isPublic: Bool)] = []
    return Set(
      lines.indices.filter { index in
        let code = lines[index].drop { $0 == " " }
        let indentation = lines[index].count - code.count
        if code.isEmpty || code.hasPrefix(")") { return false }
        open.removeAll { $0.indentation >= indentation }
        let isPublic = code.firstMatch(of: enumeration) != nil
        if isPublic || code.firstMatch(of: other) != nil {
          open.append((indentation, isPublic))
          return false
        }
        guard let last = open.last, last.isPublic, last.indentation + 2 == indentation else { return false }
        return code.hasPrefix("case ") || code.hasPrefix("indirect case ")
      })
  }

  /// Public declarations, and cases of public enums, without a comment right above them or their attributes.
  private static func undocumented(in text: String) throws -> [String] {
    let declaration = try Regex("^\\s*(?:@\\w+(?:\\([^)]*\\))? )*public \(modifiers)\(kinds)\\b")
    let split = text.split(separator: "\n", omittingEmptySubsequences: false)
    let cases = try cases(in: split)
    let lines = split.map { $0.trimmingCharacters(in: .whitespaces) }
    return lines.indices.filter { index in
      guard cases.contains(index) || lines[index].firstMatch(of: declaration) != nil,
        !inherited.contains(where: { lines[index].contains($0) })
      else { return false }
      let above = lines[..<index].last { !$0.hasPrefix("@") } ?? ""
      return !above.hasPrefix("///")
    }.map { lines[$0] }
  }

  @Test func `an undocumented declaration is found`() throws {
    let text = """
      /// A fence.
      @MainActor
      public struct Fence {
        public var height: Int
        var gap: Int
        public init(json value: JSONValue) {}
        public private(set) var colour: Int
        public package(set) var length: Int
        /// Kinds of fences.
        public enum Kind {
          /// A fence of wood.
          case wooden
          case iron, stone
          var isHard: Bool {
            switch self {
            case .wooden: false
            case .iron, .stone: true
            }
          }
          enum Colour {
            case green
          }
        }
      }
      """
    let missing = [
      "public var height: Int", "public private(set) var colour: Int", "public package(set) var length: Int",
      "case iron, stone",
    ]
    #expect(try Self.undocumented(in: text) == missing)
  }

  @Test func `each public declaration of the client libraries has a comment`() throws {
    var missing: [String] = []
    for folder in Self.folders {
      for file in try Package.files(under: folder, ending: ".swift") {
        missing += try Self.undocumented(in: file.text).map { "\(file.path): \($0)" }
      }
    }
    #expect(missing == [])
  }
}
