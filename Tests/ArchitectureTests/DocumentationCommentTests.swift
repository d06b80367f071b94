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

  /// Public declarations without a comment right above them or their attributes.
  private static func undocumented(in text: String) throws -> [String] {
    let declaration = try Regex("^\\s*(?:@\\w+(?:\\([^)]*\\))? )*public \(modifiers)\(kinds)\\b")
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    return lines.indices.filter { index in
      guard lines[index].firstMatch(of: declaration) != nil,
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
      }
      """
    let missing = [
      "public var height: Int", "public private(set) var colour: Int", "public package(set) var length: Int",
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
