/// A module of the app, parsed for bundling. Supports the subset of the language that the app's modules use: imports
/// and exports are statements that start a line with `import {` or `export`, and lazy imports have a literal path:
/// `import('./page.js')`.
struct ScriptModule {
  let path: String
  /// Paths of the static imports.
  private(set) var imports: [String] = []
  /// Paths of the dynamic imports.
  private(set) var lazyImports: [String] = []
  private var importCode = ""
  private var body = ""
  private var exports: [String] = []

  init(_ path: String, _ text: String) throws(ScriptBundle.Fault) {
    self.path = path
    var isComment = false
    var partialStatement: String?
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      let line = Substring(line.drop { $0 == UInt8(ascii: " ") })
      if let statement = partialStatement {
        partialStatement = try take("\(statement) \(line)")
      } else if isComment || line.hasPrefix("/*") {
        let end = line.range(of: "*/")
        isComment = end == nil
        // A JSDoc type may precede a statement on the same line.
        if let end, end.upperBound < line.endIndex { try keep(line[end.upperBound...]) }
      } else if line.hasPrefix("import {") || line.hasPrefix("export {") {
        partialStatement = try take(String(line))
      } else if line.hasPrefix("import ") {
        throw .unknown(path, String(line))
      } else if line.hasPrefix("export ") {
        try keep(declared(line.dropFirst("export ".count)))
      } else if !line.hasPrefix("//") {
        try keep(line)
      }
    }
    if let partialStatement { throw .unknown(path, partialStatement) }
  }

  /// The module as a part of the bundle, in braces, so that its names are local.
  var part: String {
    "{\n\(importCode)\(body)$modules[\"\(path)\"] = { \(exports.joined(separator: ", ")) };\n}\n"
  }

  // MARK: Statements

  /// Parses `import { a, b as c } from './d.js';`, `export { a } from './d.js';` or `export { a };`. Returns an
  /// incomplete statement.
  private mutating func take(_ statement: String) throws(ScriptBundle.Fault) -> String? {
    guard statement.hasSuffix(";") else { return statement }
    let parts = statement.dropLast().split(separator: "'", omittingEmptySubsequences: false)
    let names = (parts.first ?? "").drop { $0 != "{" }.dropFirst().prefix { $0 != "}" }
    let pairs = names.split(separator: ",").compactMap { name -> (own: Substring, other: Substring)? in
      let words = name.split(separator: " ")
      guard let own = words.first, let other = words.last else { return nil }
      return (own, other)
    }
    let source = parts.count == 3 ? try resolve(parts[1]) : nil
    if let source { imports.append(source) }
    if statement.hasPrefix("export") {
      exports += pairs.map { own, other in
        source.map { "\(other): $modules[\"\($0)\"].\(own)" } ?? (own == other ? "\(own)" : "\(other): \(own)")
      }
    } else {
      guard let source else { throw .unknown(path, statement) }
      let list = pairs.map { own, other in own == other ? "\(own)" : "\(own): \(other)" }
      importCode += "const { \(list.joined(separator: ", ")) } = $modules[\"\(source)\"];\n"
    }
    return nil
  }

  /// Returns `function a() {` for `export function a() {`. `let` is rejected: importers would keep the old value.
  private mutating func declared(_ line: Substring) throws(ScriptBundle.Fault) -> Substring {
    let forms = ["async function ", "function ", "class ", "const "]
    guard let form = forms.first(where: line.hasPrefix) else { throw .unknown(path, String(line)) }
    let name = line.dropFirst(form.count).prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
    guard !name.isEmpty else { throw .unknown(path, String(line)) }
    exports.append(String(name))
    return line
  }

  private mutating func keep(_ line: Substring) throws(ScriptBundle.Fault) {
    var rest = line
    while let call = rest.range(of: "import('") {
      let name = rest[call.upperBound...].prefix { $0 != "'" }
      let found = try resolve(name)
      lazyImports.append(found)
      body += "\(rest[..<call.lowerBound])$load('\(found)'"
      rest = rest[name.endIndex...].dropFirst()
    }
    body += "\(rest)\n"
  }

  private func resolve(_ name: Substring) throws(ScriptBundle.Fault) -> String {
    guard name.hasPrefix("./") || name.hasPrefix("../") else { throw .unknown(path, String(name)) }
    var folders = path.split(separator: "/").dropLast()
    for part in name.split(separator: "/") where part != "." {
      if part == ".." { _ = folders.popLast() } else { folders.append(part) }
    }
    return "/" + folders.joined(separator: "/")
  }
}

extension Substring {
  /// Searches bytes, which is much faster than characters and equivalent for ASCII text.
  fileprivate func range(of text: String) -> Range<Index>? {
    guard let first = text.utf8.first else { return nil }
    var rest = utf8
    while let start = rest.firstIndex(of: first) {
      rest = rest[start...]
      if rest.starts(with: text.utf8) { return start..<rest.index(start, offsetBy: text.utf8.count) }
      rest = rest.dropFirst()
    }
    return nil
  }
}
