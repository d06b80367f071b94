// The web app's page, as it is sent at each of the app's addresses.
//
// The page names its style sheets one by one and the module that the app begins with, so that all of them can be written
// and read one by one. They are sent as three files, joined when the server starts: the styles, the script that the app begins
// with, and the rest of its modules. What it loads later and shows at first all the same, the page names by `modulepreload`.

import ParleyWire

public struct AppPage: Sendable {
  /// The scripts, if the page has any, and the styles.
  public let files: [BundledFile]
  private let page: FileRepresentation

  /// A page larger than this is none of ours.
  public static let maxPageBytes = 64 << 10
  /// What the styles may take together.
  public static let maxStyleBytes = 512 << 10
  /// What one module may take.
  public static let maxModuleBytes = 256 << 10

  /// Nil when the folder has no page, or names a sheet that is not there.
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
        // Named, and not yet fetched: who keeps the app for when there is no network looks here.
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

  /// The page; and where the browser may run what, as `StaticFiles` says it of every page. Left to the site to compress and
  /// to compare with what the browser has.
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

  private static func text(_ folder: PublicFolder, _ path: String, most: Int) throws(Problem) -> String? {
    guard let name = FileName(path), let file = try folder.file(name.parts), file.size <= most,
      let bytes = file.read(0..<file.size)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}
