// The page of the web app, sent at every URL of the app.
//
// `index.html` lists each style sheet and the entry module. The server bundles them at startup into three files: the
// styles, the entry script, and a second script with all other modules. `modulepreload` adds a lazily loaded module to
// the entry script.

import ParleyWire

public struct AppPage: Sendable {
  /// The bundled scripts and styles.
  public let files: [BundledFile]
  private let page: FileRepresentation

  /// Maximum size of `index.html`.
  public static let maxPageBytes = 64 << 10
  /// Maximum total size of the styles.
  public static let maxStyleBytes = 512 << 10
  /// Maximum size of a module.
  public static let maxModuleBytes = 256 << 10

  /// Returns nil if the folder has no `index.html` or a style sheet is missing.
  public init?(_ path: String) throws(Problem) {
    let folder = PublicFolder(path: path)
    guard let html = try Self.text(folder, "/index.html", most: Self.maxPageBytes) else { return nil }
    var lines: [Substring] = []
    var joined = ""
    var stylesLine: Int?
    var script: (line: Int, root: String)?
    var early: [String] = []
    for line in html.split(separator: "\n", omittingEmptySubsequences: false) {
      if let sheet = Self.address(in: line, after: Self.sheet) {
        if stylesLine == nil { stylesLine = lines.count }
        guard let text = try Self.text(folder, sheet, most: Self.maxStyleBytes - joined.utf8.count) else { return nil }
        joined += text
        continue
      }
      if let module = Self.address(in: line, after: Self.preload) {
        early.append(module)
        continue
      }
      if let root = Self.address(in: line, after: Self.script) { script = (lines.count, root) }
      lines.append(line)
    }
    var files: [BundledFile] = []
    if let script {
      let modules = try Self.join(folder, script.root, early)
      let rest = modules.rest.flatMap { BundledFile("/js/rest", "js", $0) }
      guard let file = BundledFile("/js/app", "js", modules.beginning(restAt: rest?.path)) else { return nil }
      lines[script.line] = "  \(Self.script)\(file.path)\"></script>"
      files.append(file)
      if let rest {
        // Not fetched yet. The service worker reads this name to cache the script for offline use.
        lines[script.line] += "\n  <meta name=\"rest\" content=\"\(rest.path)\">"
        files.append(rest)
      }
    }
    if let stylesLine {
      guard let file = BundledFile("/css/app", "css", joined) else { return nil }
      lines.insert("  \(Self.sheet)\(file.path)\">", at: stylesLine)
      files.append(file)
    }
    guard let name = FileName("/index.html") else { return nil }
    page = FileRepresentation.Builder(name, modified: 0)(.memory(Array(lines.joined(separator: "\n").utf8)))
    self.files = files
  }

  /// Responds with the page and the page policy of `StaticFiles`. `Application` compresses it and evaluates conditions.
  @Sendable
  public func respond(_ request: Request, _ context: Context) async throws(Problem) -> Response {
    var response = page.whole
    response.isNegotiated = false
    response.fields.remove("last-modified")
    response.fields.remove("accept-ranges")
    return response
  }

  private static let sheet = "<link rel=\"stylesheet\" href=\""
  private static let preload = "<link rel=\"modulepreload\" href=\""
  private static let script = "<script type=\"module\" src=\""

  /// `/css/base.css` of `<link rel="stylesheet" href="/css/base.css">`.
  private static func address(in line: Substring, after begin: String) -> String? {
    let line = line.drop { $0 == " " }
    guard line.hasPrefix(begin) else { return nil }
    return String(line.dropFirst(begin.count).prefix { $0 != "\"" })
  }

  private static func join(_ folder: PublicFolder, _ root: String, _ early: [String]) throws(Problem) -> ScriptBundle {
    do throws(ScriptBundle.Fault) {
      return try ScriptBundle(root: root, early: early) { path throws(ScriptBundle.Fault) in
        let text: String?
        do throws(Problem) { text = try Self.text(folder, path, most: maxModuleBytes) } catch { throw .missing(path) }
        guard let text else { throw .missing(path) }
        return text
      }
    } catch {
      throw .broken(error)
    }
  }

  static func text(_ folder: PublicFolder, _ path: String, most: Int) throws(Problem) -> String? {
    guard let name = FileName(path), let file = try folder.file(name.parts), file.size <= most,
      let bytes = file.read(0..<file.size)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}
