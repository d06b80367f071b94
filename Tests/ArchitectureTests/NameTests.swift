import Foundation
import Testing

/// Names of types and files, and positions of columns.
@Suite struct NameTests {
  private struct SourceFile {
    let path: String
    let text: String
    /// Top-level types that other files can use.
    let types: [String]
    /// Types that the file extends without declaring them.
    let extended: Set<String>
    /// The part of its lines, in percent, that are in declarations of its types and extensions of them.
    let share: Int

    var name: String { String(path.split(separator: "/").last?.dropLast(".swift".count) ?? "") }

    init(path: String, text: String) throws {
      let declaration = try Regex(
        #"(?m)^(?:@\w+(?:\([^)]*\))? )*(public |package |private |fileprivate )?"#
          + #"(?:(?:final|indirect) )*(?:struct|enum|class|actor|protocol|typealias) (\w+)"#)
      let extensionOf = try Regex(#"(?m)^(?:public |package )?extension (\w+)"#)
      let declared = text.matches(of: declaration).map { match in
        (access: match.output[1].substring ?? "", name: String(match.output[2].substring ?? ""))
      }
      self.path = path
      self.text = text
      types = declared.filter { !$0.access.hasSuffix("private ") }.map(\.name)
      extended = Set(text.matches(of: extensionOf).compactMap { $0.output[1].substring.map(String.init) })
        .subtracting(declared.map(\.name))
      let owner = try Regex(#"^(?:[^/ ][^/]* )?(?:extension|struct|enum|class|actor|protocol|typealias) (\w+)"#)
      var isOwn: Bool?
      var lines = (own: 0, all: 0)
      for line in text.split(separator: "\n") {
        if let name = line.firstMatch(of: owner)?.output[1].substring { isOwn = types.contains(String(name)) }
        guard let isOwn else { continue }
        lines.all += 1
        if isOwn { lines.own += 1 }
      }
      share = 100 * lines.own / max(1, lines.all)
    }

    /// A file with types of its own is named for one of them, or for several (`ForumIcons` has `ForumIcon`). A file that mostly
    /// extends other types is named for its noun, and one of a family for the family (`ManualCommand` extends `Command`).
    var isNamedForAType: Bool {
      if types.isEmpty || types.contains(name) || types.contains(where: { $0 + "s" == name }) { return true }
      return !extended.isEmpty && (share <= SourceFile.maxShare || extended.contains(where: name.hasSuffix))
    }

    private static let maxShare = 60

    /// Lines that read a column of a row by a position of two digits, or by a computed one.
    func positions() throws -> [String] {
      let read = try Regex(
        #"\.(?:int|text|bool|double|bytes|word|isNull|unexpected|withBytes|optional[A-Z]\w*)\((?:\d\d+|[\w.]+ \+ \d+)\)"#
      )
      return text.split(separator: "\n").filter { Package.code($0).contains(read) }.map(String.init)
    }
  }

  /// Small types of one kind, none of them the main one.
  private static let collections: Set<String> = [
    "ACMEObjects", "BlockMarkers", "FetchedPages", "MorMessagesObjects", "NotificationJobs", "ServerTypes",
  ]

  /// The same thing at both ends of a connection.
  private static let inTwoTargets: Set<String> = ["Problem", "Request", "RequestBody"]

  private static let files: [String: [SourceFile]] = {
    let targets = (try? Package.targets) ?? [:]
    return targets.compactMapValues { folder in
      try? Package.files(under: folder, ending: ".swift").map { try SourceFile(path: $0.path, text: $0.text) }
    }
  }()

  @Test(arguments: [
    ("struct Fence {}", true), ("struct Heading {}", false), ("private struct Heading {}", true),
    ("extension Array {}\nstruct Heading {}", true), ("struct Heading {}\nextension Heading {}", false),
    ("public final class Heading {}\n@frozen public struct Fence {}", true), ("extension Array {}", true),
    ("extension Array {}\nstruct Heading {\n}\nextension Heading {\n}", false), ("struct Fences {}", false),
    ("extension Fenc {}\nstruct Heading {\n}", false), ("extension ence {}\nstruct Heading {\n}", true),
  ])
  func `a file without its main type is recognized`(text: String, isRight: Bool) throws {
    #expect(try SourceFile(path: "Sources/Fence.swift", text: text).isNamedForAType == isRight)
  }

  @Test func `a file is named for its main type or extends the types of its noun`() {
    #expect(Self.files.values.joined().count > 500)
    let others = Self.files.values.joined().filter { !$0.isNamedForAType }
    #expect(Set(others.map(\.name)) == Self.collections)
  }

  /// Files with the name of a type that another file of the target declares.
  private static func misnamed(in files: [SourceFile]) -> [String] {
    let owners = Dictionary(files.flatMap { file in file.types.map { ($0, file.path) } }) { one, _ in one }
    return files.filter { file in
      guard let owner = owners[file.name], owner != file.path else { return false }
      return !file.types.contains(file.name) && !file.extended.contains(file.name)
    }.map(\.path)
  }

  @Test func `a file with the name of a type of its target declares or extends it`() throws {
    let fence = try SourceFile(path: "A/Fence.swift", text: "extension Array {}")
    let heading = try SourceFile(path: "A/Heading.swift", text: "struct Heading {}\nstruct Fence {}")
    #expect(Self.misnamed(in: [fence, heading]) == ["A/Fence.swift"])
    #expect(Self.files.values.flatMap(Self.misnamed) == [])
  }

  @Test func `no two targets have a type of the same name`() {
    var targets: [String: Set<String>] = [:]
    for (target, files) in Self.files {
      for type in files.flatMap(\.types) { targets[type, default: []].insert(target) }
    }
    #expect(Set(targets.filter { $0.value.count > 1 }.keys) == Self.inTwoTargets)
  }

  @Test func `rows with more than ten columns are read by name`() throws {
    let file = try SourceFile(
      path: "", text: "let a = try row.int(9)\nlet b = row.isNull(10)\nlet c = row.text(first + 1)")
    #expect(try file.positions() == ["let b = row.isNull(10)", "let c = row.text(first + 1)"])
    for file in Self.files.values.joined() { #expect(try file.positions() == [], "\(file.path)") }
  }
}
