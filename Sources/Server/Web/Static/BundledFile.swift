import ParleyJSON
import ParleyWire

/// A file built at startup, with a hash of its content in its name, so that browsers cache it for good. It is gzipped
/// once, at startup.
public struct BundledFile: Sendable {
  public let path: String
  private let plain: FileRepresentation
  private let gzip: FileRepresentation?

  /// - Parameters: the parts of the path before and after the hash, such as `/css/app` and `css`.
  init?(_ start: String, _ ending: String, _ text: String) {
    let bytes = Array(text.utf8)
    path = "\(start).\(Self.name(of: bytes)).\(ending)"
    guard let name = FileName(path) else { return nil }
    let form = FileRepresentation.Builder(name, modified: 0)
    plain = form(.memory(bytes))
    gzip = (try? Gzip.compress(bytes, level: 9)).map { form(.memory($0), coding: "gzip") }
  }

  /// Joins style sheets. Returns nil if one is missing.
  public init?(
    _ start: String, _ ending: String, joining paths: [String], in folder: String
  ) throws(Problem) {
    let folder = PublicFolder(path: folder)
    var joined = ""
    for path in paths {
      let room = AppPage.maxStyleBytes - joined.utf8.count
      guard let text = try AppPage.text(folder, path, most: room) else { return nil }
      joined += text
    }
    self.init(start, ending, joined)
  }

  @Sendable
  public func respond(_ request: Request, _ context: Context) async throws(Problem) -> Response {
    let form = Accept.allowsGzip(request.fields) ? gzip ?? plain : plain
    var response = form.whole
    // The bundle is new even if its files are old.
    response.fields.remove("last-modified")
    response.fields.remove("accept-ranges")
    return response
  }

  /// Contains letters and digits, so that `FileName.isHashed` is true.
  private static func name(of bytes: [UInt8]) -> String {
    let digits = Fingerprint(bytes).hexadecimal
    return "a0" + String(repeating: "0", count: 16 - digits.count) + digits
  }
}
