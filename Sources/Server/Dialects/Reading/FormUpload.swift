import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// A multipart form (RFC 7578) with text fields and at most one file, whose bytes are passed on as they arrive.
struct FormUpload {
  let fields: LenientBody
  /// The name of the file in the client; nil without the file.
  let fileName: String?

  private static let maxParts = 64
  private static let maxFieldBytes = 65_536

  /// The fields of a form. Files are dropped.
  static func fields(of request: Request) async throws -> LenientBody {
    try await FormUpload(request, file: nil) { _ in }.fields
  }

  /// - Parameters:
  ///   - part: the name of the part with the file; nil drops all files.
  ///   - receive: takes the bytes of the file.
  init(_ request: Request, file part: String?, _ receive: ([UInt8]) async throws -> Void) async throws {
    guard let type = request.fields["content-type"].flatMap({ MediaType($0) }),
      var form = MultipartDecoder(type, limits: MultipartLimits(parts: Self.maxParts))
    else { throw Problem.badRequest("The form has no boundary.") }
    var parts = Parts(file: part)
    while let chunk = try await request.body.read() {
      var start = 0
      while let piece = try form.nextPiece(of: chunk, from: &start) {
        switch piece {
        case .part(let next): try parts.begin(next)
        case .bytes(let bytes): if try parts.take(bytes) { try await receive(bytes) }
        }
      }
    }
    try form.finish()
    fields = try parts.members()
    fileName = parts.fileName
  }

  /// The parts that have been read.
  private struct Parts {
    let file: String?
    private(set) var fileName: String?
    private var fields: [String: [UInt8]] = [:]
    private var current = Current.dropped

    private enum Current {
      case dropped, file
      case field(String)
    }

    init(file: String?) { self.file = file }

    mutating func begin(_ part: MultipartPart) throws {
      if part.name == file {
        guard fileName == nil else { throw Refusal.invalid(part.name, .tooMany(limit: 1)) }
        fileName = part.filename ?? ""
        current = .file
      } else if part.filename != nil {
        current = .dropped
      } else {
        current = .field(part.name)
        fields[part.name] = []
      }
    }

    /// Whether the bytes are of the file.
    mutating func take(_ bytes: [UInt8]) throws -> Bool {
      switch current {
      case .dropped: return false
      case .file: return true
      case .field(let name):
        fields[name]? += bytes
        guard fields[name]?.count ?? 0 <= FormUpload.maxFieldBytes else {
          throw Refusal.invalid(name, .tooLong(limit: FormUpload.maxFieldBytes))
        }
        return false
      }
    }

    /// The fields, or the members of the field `metadata`.
    func members() throws -> LenientBody {
      if let metadata = fields["metadata"] { return try LenientBody(metadata, type: nil) }
      var pairs: [String: String] = [:]
      for (name, bytes) in fields {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Refusal.invalid(name, .invalid) }
        pairs[name] = text
      }
      return LenientBody(pairs: pairs)
    }
  }
}
