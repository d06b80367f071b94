import Foundation
import Testing

/// Paths that READMEs and CONTRIBUTING.md name in backticks.
@Suite struct DocumentTests {
  /// Results of builds and of runs, which a clean tree does not have.
  private static let generated = [".build/", "dist/", "data/", "Public/app", "Public/docs"]

  private static func quotations(in text: String) throws -> [String] {
    let code = try Regex(#"(?ms)^```.*?^```"#)
    return text.replacing(code, with: "").split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
  }

  private static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: Package.root.appending(path: path).standardizedFileURL.path)
  }

  /// The folder of a document and the folders around it, each with a slash at its end; the root is empty.
  private static func bases(of path: String) -> [String] {
    let parts = path.split(separator: "/").dropLast()
    return (0...parts.count).reversed().map { count in parts.prefix(count).map { $0 + "/" }.joined() }
  }

  /// The paths of a document that begin with an existing folder and lead to no file or folder. The name of a Swift file
  /// may lack its suffix.
  private static func missing(in text: String, bases: [String]) throws -> [String] {
    let path = try Regex(#"[\w.@+-]+(/[\w.@+-]+)*/?"#)
    return try quotations(in: text).filter { name in
      guard name.contains("/"), name.wholeMatch(of: path) != nil, !generated.contains(where: name.hasPrefix) else {
        return false
      }
      let first = name.prefix { $0 != "/" }
      let isFolder = name.hasSuffix("/") && name.dropLast() == first
      let owners = bases.filter { exists($0 + first) }
      return isFolder
        ? owners.isEmpty : !owners.isEmpty && !owners.contains { exists($0 + name) || exists($0 + name + ".swift") }
    }
  }

  @Test func `a path that does not exist is found`() throws {
    let text =
      "`Tests/run` `Tests/ArchitectureTests/NameTests` `a/b` `Tests/walk` `Nowhere/` `Tests/`\n```\n`Tests/no`\n```\n"
    #expect(try Self.missing(in: text, bases: [""]) == ["Tests/walk", "Nowhere/"])
    #expect(
      Self.bases(of: "Sources/Server/API/README.md") == ["Sources/Server/API/", "Sources/Server/", "Sources/", ""])
  }

  @Test func `each path of a README exists`() throws {
    let files = try ["Sources", "Tests", "Public"].flatMap { try Package.files(under: $0, ending: "README.md") }
      .filter { !$0.path.contains("/.") && !$0.path.contains("/node_modules/") }
    #expect(files.count > 35)
    // The map has a test of its own, which knows the folders of the targets.
    for file in files where file.path != "Sources/README.md" {
      #expect(try Self.missing(in: file.text, bases: Self.bases(of: file.path)) == [], "\(file.path)")
    }
  }

  @Test func `each path of CONTRIBUTING.md exists`() throws {
    let text = try String(contentsOf: Package.root.appending(path: "CONTRIBUTING.md"), encoding: .utf8)
    let bases = ["", "Sources/Server/", "Sources/Shared/", "Sources/Kit/"]
    #expect(try Self.missing(in: text, bases: bases) == [])
  }

  @Test func `a README of the sources names each folder beside it`() throws {
    let manager = FileManager.default
    for file in try Package.files(under: "Sources", ending: "README.md") {
      let folder = String(file.path.dropLast("README.md".count))
      let quoted = try Self.quotations(in: file.text)
      for name in try manager.contentsOfDirectory(atPath: Package.root.appending(path: folder).path) {
        var isFolder: ObjCBool = false
        let path = folder + name
        guard manager.fileExists(atPath: Package.root.appending(path: path).path, isDirectory: &isFolder),
          isFolder.boolValue, !name.hasPrefix("."), !Self.exists(path + "/README.md")
        else { continue }
        let isNamed = quoted.contains { $0 == name || $0.hasPrefix(name + "/") }
        #expect(isNamed || file.path == "Sources/README.md", "\(file.path) does not name \(name)")
      }
    }
  }
}
