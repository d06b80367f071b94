import Community
import ParleyModel
import ParleyWire
import Web

/// The body of a file upload: raw bytes with the file's attributes in the query, or a form (RFC 7578) with an optional
/// preview.
final class UploadBody {
  private let context: RequestContext
  private let draft: FileDraft
  private let form: MultipartDecoder?
  private var file: FileIntake?
  private var preview: FileIntake?
  private var fields: [String: [UInt8]] = [:]
  private var fileName: String?
  /// The destination of the bytes.
  private var part = Part.none

  private enum Part {
    case none, file, preview
    case field(String)
  }

  /// The form's text fields and the maximum size of each in bytes.
  private static let known = ["name", "type", "public", "client_id"]
  private static let maxFieldBytes = 4_096

  init(_ context: RequestContext) throws {
    self.context = context
    draft = try context.query { query in
      FileDraft(
        name: try query.text("name") ?? "", type: try query.text("type"),
        isPublic: try query.flag("public") ?? false, clientID: try query.text("client_id"))
    }
    let type = context.request.fields["content-type"].flatMap { MediaType($0) }
    if let type, type.isMultipartForm {
      guard let decoder = MultipartDecoder(type, limits: MultipartLimits(parts: 8)) else {
        throw Problem.badRequest("The form has no boundary.")
      }
      form = decoder
    } else {
      form = nil
    }
  }

  func read() async throws -> (draft: FileDraft, file: FileIntake, preview: FileIntake?) {
    let announced = context.request.body.contentLength
    file = try context.community.intake(for: context.caller, announced: announced, context.view)
    var hasFile = form == nil
    if var form {
      try await context.forEachBodyChunk { chunk in try await self.parse(chunk, &form) }
      try form.finish()
      hasFile = fileName != nil
    } else {
      try await context.forEachBodyChunk { chunk in try await self.file?.receive(chunk) }
    }
    guard hasFile, let file else { throw Refusal.invalid("file", .missing) }
    return (try completed(), file, preview)
  }

  func discard() async {
    await file?.discard()
    await preview?.discard()
  }

  // MARK: Form

  private func parse(_ chunk: [UInt8], _ form: inout MultipartDecoder) async throws {
    var start = 0
    while let piece = try form.nextPiece(of: chunk, from: &start) {
      switch piece {
      case .part(let next): try begin(next)
      case .bytes(let bytes): try await store(bytes)
      }
    }
  }

  private func begin(_ next: MultipartPart) throws {
    switch next.name {
    case "file":
      guard fileName == nil else { throw Refusal.invalid("file", .tooMany(limit: 1)) }
      fileName = next.filename ?? ""
      part = .file
    case "preview":
      guard preview == nil else { throw Refusal.invalid("preview", .tooMany(limit: 1)) }
      preview = try context.community.intake(
        for: context.caller, announced: nil, limit: context.community.bounds.previewBytes, context.view)
      part = .preview
    case let name where Self.known.contains(name):
      guard fields.updateValue([], forKey: name) == nil else { throw Refusal.invalid(name, .tooMany(limit: 1)) }
      part = .field(name)
    default: throw Refusal.invalid(next.name, .unknownField)
    }
  }

  private func store(_ bytes: [UInt8]) async throws {
    switch part {
    case .none: break
    case .file: try await file?.receive(bytes)
    case .preview: try await preview?.receive(bytes)
    case .field(let name):
      let all = (fields[name] ?? []) + bytes
      guard all.count <= Self.maxFieldBytes else { throw Refusal.invalid(name, .tooLong(limit: Self.maxFieldBytes)) }
      fields[name] = all
    }
  }

  // MARK: Attributes

  /// The draft with the attributes of the form's fields and of its file part.
  private func completed() throws -> FileDraft {
    var draft = draft
    if let text = try text("name") { draft.name = text }
    if let text = try text("type") { draft.type = text }
    if let text = try text("client_id") { draft.clientID = text }
    if let text = try text("public") {
      guard ["true", "false"].contains(text) else { throw Refusal.invalid("public", .invalid) }
      draft.isPublic = text == "true"
    }
    // Old browsers send a path.
    if draft.name.isEmpty {
      draft.name = (fileName ?? "").split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? ""
    }
    if draft.name.isEmpty { draft.name = "file" }
    return draft
  }

  private func text(_ name: String) throws -> String? {
    guard let bytes = fields[name] else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Refusal.invalid(name, .invalid) }
    return text
  }
}
