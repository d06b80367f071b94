import ParleyJSON
import ParleyWire

/// A file's content in one coding, with its fields. A class, so that requests don't copy its many members.
final class FileRepresentation: Sendable {
  let content: Content
  let tag: EntityTag
  /// Fields of 200 and 206.
  let fields: Fields
  /// Fields of 304: those required by RFC 9110 §15.4.5, and the policies, since a cache replaces its stored fields.
  let notModifiedFields: Fields

  private init(_ content: Content, tag: EntityTag, fields: Fields, notModifiedFields: Fields) {
    self.content = content
    self.tag = tag
    self.fields = fields
    self.notModifiedFields = notModifiedFields
  }

  enum Content: Sendable {
    case memory([UInt8])
    case file(OpenFile)

    var count: Int {
      switch self {
      case .memory(let bytes): bytes.count
      case .file(let file): file.size
      }
    }

    func part(_ range: Range<Int>) -> Response.Segment {
      switch self {
      case .memory(let bytes): .bytes(Array(bytes[range]))
      case .file(let file): .file(file, range)
      }
    }
  }

  /// Creates the representations of one file.
  struct Builder {
    private let type: ContentType
    private let modified: Int
    private let common: Fields

    init(_ name: FileName, modified: Int) {
      type = name.type
      self.modified = modified
      var fields = Fields()
      fields.add("Cache-Control", name.isHashed ? "public, max-age=31536000, immutable" : "no-cache")
      fields.add("Accept-Ranges", "bytes")
      if name.type.isCompressible { fields.add("Vary", "Accept-Encoding") }
      if name.type.isExecutable { fields.addMissing(from: Application.pageFields) }
      common = fields
    }

    func callAsFunction(_ content: Content, coding: String? = nil) -> FileRepresentation {
      let tag = content.tag
      var unchanged = common
      unchanged.add("ETag", tag.description)
      var fields = unchanged
      fields.add("Last-Modified", HTTPDate.format(modified))
      fields.addMissing(from: type.field)
      if let coding { fields.add("Content-Encoding", coding) }
      return FileRepresentation(content, tag: tag, fields: fields, notModifiedFields: unchanged)
    }
  }

  /// A file outside the public folder. The caller supplies its type and fields.
  convenience init(_ file: OpenFile, _ type: ContentType, tag: EntityTag, _ common: Fields) {
    var unchanged = common
    unchanged.add("Accept-Ranges", "bytes")
    unchanged.add("ETag", tag.description)
    var fields = unchanged
    fields.addMissing(from: type.field)
    self.init(.file(file), tag: tag, fields: fields, notModifiedFields: unchanged)
  }

  // MARK: Response

  /// RFC 9110 §14.2: ranges are for GET alone.
  static func asksForRange(_ request: Request) -> Bool { request.method == .get && request.fields.has("range") }

  /// Evaluates the request's conditions and ranges.
  func respond(
    to request: Request, modified: Int?, type: ContentType, now: Int64, boundary: @autoclosure () -> String
  ) throws(Problem) -> Response {
    let current = Preconditions.Current(tag: tag, modified: modified)
    let conditions = Preconditions(request.method, request.fields, now: Int(now / 1_000))
    switch conditions.evaluate(current) {
    case .notModified: return Response(.notModified, fields: notModifiedFields)
    case .failed: throw .preconditionFailed
    case .proceed: break
    }
    guard Self.asksForRange(request), conditions.allowsRange(current) else { return whole }
    let values = request.fields.all("range")
    switch ByteRanges(values.count == 1 ? values.first : nil, length: content.count) {
    case .whole: return whole
    case .unsatisfiable: throw .rangeNotSatisfiable(length: content.count)
    case .some(let ranges): return parts(ranges, type: type, boundary: boundary())
    }
  }

  var whole: Response {
    var whole = Response(.ok, fields: fields, isNegotiated: true)
    switch content {
    case .memory(let bytes):
      whole.body = .bytes(bytes)
      whole.isRetained = true
    case .file(let file): whole.body = .segments([.file(file, 0..<file.size)])
    }
    return whole
  }

  /// RFC 9110 §15.3.7: one range is sent directly, several as multipart/byteranges.
  private func parts(_ ranges: [Range<Int>], type: ContentType, boundary: @autoclosure () -> String) -> Response {
    var response = Response(.partialContent, fields: fields)
    if let range = ranges.first, ranges.count == 1 {
      response.fields.add("Content-Range", ByteRanges.contentRange(range, of: content.count))
      response.body = .segments([content.part(range)])
      return response
    }
    let boundary = boundary()
    var segments: [Response.Segment] = []
    for range in ranges {
      let contentRange = ByteRanges.contentRange(range, of: content.count)
      let head = "\r\n--\(boundary)\r\nContent-Type: \(type.name)\r\nContent-Range: \(contentRange)\r\n\r\n"
      segments += [.bytes(Array(head.utf8)), content.part(range)]
    }
    segments.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
    response.fields.set("content-type", "multipart/byteranges; boundary=\(boundary)")
    response.body = .segments(segments)
    return response
  }
}

extension FileRepresentation.Content {
  /// The tag of a file in memory is a content hash, so it survives a new installation. The tag of a large file has its
  /// size, mtime and ctime, since archives may set the same mtime in every version.
  fileprivate var tag: EntityTag {
    switch self {
    case .memory(let bytes): EntityTag("\(Self.hex(bytes.count))-\(Fingerprint(bytes).hexadecimal)")
    case .file(let file):
      EntityTag("\(Self.hex(file.size))-\(Self.hex(file.stamp.modified))-\(Self.hex(file.stamp.changed))")
    }
  }

  private static func hex(_ number: some BinaryInteger) -> String { String(number, radix: 16) }
}
