/// One module of the app, read for being joined with the others. It knows as much of the language as the app's modules use:
/// what they take and give stands in statements that begin a line with `import {` or `export`, and what is loaded when it is
/// needed is named in full: `import('./page.js')`.
struct ScriptModule {
  let path: String
  /// Paths of the modules that have to be there before this one.
  private(set) var imports: [String] = []
  /// Paths of the modules that this one loads when it needs them.
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
        // A type stands before what it is of.
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

  /// As a part of the joined script: in braces, so that its names are its own.
  var part: String {
    "{\n\(importCode)\(body)$modules[\"\(path)\"] = { \(exports.joined(separator: ", ")) };\n}\n"
  }

  // MARK: Statements

  /// `import { a, b as c } from './d.js';`, `export { a } from './d.js';` or `export { a };`. What is not whole yet is given
  /// back.
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

  /// `function a() {` of `export function a() {`. What may change later can't be given: others would keep what it was.
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
  /// By bytes: much faster than by characters, and the same for what is looked for here.
  fileprivate func range(of text: String) -> Range<Index>? {
    guard let first = text.utf8.first else { return nil }
    var rest = utf8
    while let place = rest.firstIndex(of: first) {
      rest = rest[place...]
      if rest.starts(with: text.utf8) { return place..<rest.index(place, offsetBy: text.utf8.count) }
      rest = rest.dropFirst()
    }
    return nil
  }
}
