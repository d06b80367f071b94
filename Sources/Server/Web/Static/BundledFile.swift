import ParleyJSON
import ParleyWire

/// A file that was made when the server started, whose name changes with its content: a browser asks for it once and keeps
/// it. It is gzipped once, since nobody waits then.
public struct BundledFile: Sendable {
  public let path: String
  private let plain: FileRepresentation
  private let gzip: FileRepresentation?

  /// `start` and `ending` of a path that stands between them, as `/css/app` and `css`.
  init?(_ start: String, _ ending: String, _ text: String) {
    let bytes = Array(text.utf8)
    path = "\(start).\(Self.name(of: bytes)).\(ending)"
    guard let name = FileName(path) else { return nil }
    let form = FileRepresentation.Builder(name, modified: 0)
    plain = form(.memory(bytes))
    gzip = (try? Gzip.compress(bytes, level: 9)).map { form(.memory($0), coding: "gzip") }
  }

  @Sendable
  public func respond(_ request: Request, _ context: Context) async throws(Problem) -> Response {
    let form = Accept.allowsGzip(request.fields) ? gzip ?? plain : plain
    var response = form.whole
    // It was joined now, whatever the files' own times.
    response.fields.remove("last-modified")
    response.fields.remove("accept-ranges")
    return response
  }

  /// Letters and figures both, so that `FileName.isHashed` takes it for what it is.
  private static func name(of bytes: [UInt8]) -> String {
    let digits = Fingerprint(bytes).hexadecimal
    return "a0" + String(repeating: "0", count: 16 - digits.count) + digits
  }
}
