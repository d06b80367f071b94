// The web app's page, as it is sent at each of the app's addresses.
//
// The page names its style sheets one by one, so that they can be written and read one by one. They are sent as one
// file, joined when the server starts, whose name changes with its content: a browser asks for it once and keeps it.

import Wire

public struct AppPage: Sendable {
  /// Where the joined styles are.
  public let stylesPath: String
  private let page: FileForm
  private let styles: FileForm

  /// A page larger than this is none of ours.
  public static let largestPage = 64 << 10
  /// What the styles may take together.
  public static let largestStyles = 512 << 10

  /// Nil when the folder has no page, or names a sheet that is not there.
  public init?(_ path: String) throws(Problem) {
    let folder = Folder(path: path)
    guard let html = try Self.text(folder, "/index.html", most: Self.largestPage) else { return nil }
    var lines: [Substring] = []
    var joined = ""
    var place: Int?
    for line in html.split(separator: "\n", omittingEmptySubsequences: false) {
      guard let sheet = Self.sheet(in: line) else {
        lines.append(line)
        continue
      }
      if place == nil { place = lines.count }
      guard let text = try Self.text(folder, sheet, most: Self.largestStyles - joined.utf8.count) else { return nil }
      joined += text
    }
    let bytes = Array(joined.utf8)
    stylesPath = "/css/app.\(Self.name(of: bytes)).css"
    if let place { lines.insert("  <link rel=\"stylesheet\" href=\"\(stylesPath)\">", at: place) }
    guard let pageName = FileName("/index.html"), let stylesName = FileName(stylesPath) else { return nil }
    page = FileForm.Maker(pageName, modified: 0)(.memory(Array(lines.joined(separator: "\n").utf8)))
    styles = FileForm.Maker(stylesName, modified: 0)(.memory(bytes))
  }

  /// The page; and where the browser may run what, as `StaticFiles` says it of every page.
  @Sendable
  public func answer(_ request: Request, _ context: Context) async throws(Problem) -> Response {
    Self.answer(page)
  }

  @Sendable
  public func answerStyles(_ request: Request, _ context: Context) async throws(Problem) -> Response {
    Self.answer(styles)
  }

  /// Left to the site to compress and to compare with what the browser has.
  private static func answer(_ form: FileForm) -> Response {
    var response = form.whole
    response.isNegotiated = false
    // They were joined now, whatever the files' own times.
    response.fields.remove("last-modified")
    response.fields.remove("accept-ranges")
    return response
  }

  /// `/css/base.css` of `<link rel="stylesheet" href="/css/base.css">`.
  private static func sheet(in line: Substring) -> String? {
    let begin = "<link rel=\"stylesheet\" href=\""
    let line = line.drop { $0 == " " }
    guard line.hasPrefix(begin) else { return nil }
    return String(line.dropFirst(begin.count).prefix { $0 != "\"" })
  }

  private static func text(_ folder: Folder, _ path: String, most: Int) throws(Problem) -> String? {
    guard let name = FileName(path), let file = try folder.file(name.parts), file.size <= most,
      let bytes = file.read(0..<file.size)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Letters and figures both, so that `FileName.isHashed` takes it for what it is.
  private static func name(of bytes: [UInt8]) -> String {
    let hash = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return "a0" + String(repeating: "0", count: 16 - digits.count) + digits
  }
}
