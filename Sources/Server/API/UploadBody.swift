import Community
import ParleyModel
import ParleyWire
import Web

/// A request that brings a file: its bytes as they are, with the rest in the query, or a form (RFC 7578) that may bring a
/// preview too.
final class UploadBody {
  private let context: RequestContext
  private let draft: FileDraft
  private let form: MultipartDecoder?
  private var file: FileIntake?
  private var preview: FileIntake?
  private var fields: [String: [UInt8]] = [:]
  private var fileName: String?
  /// Where what comes goes.
  private var part = Part.none

  private enum Part {
    case none, file, preview
    case field(String)
  }

  /// Fields of a form that are no files, and what each may have, in bytes.
  private static let known = ["name", "type", "public", "client_id"]
  private static let maxInField = 4_096

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
    var isThere = form == nil
    if var form {
      try await context.eachPiece { piece in try await self.take(piece, &form) }
      guard form.isDone else { throw Problem.badRequest("The form is cut off.") }
      isThere = fileName != nil
    } else {
      try await context.eachPiece { piece in try await self.file?.receive(piece) }
    }
    guard isThere, let file else { throw Refusal.invalid("file", .missing) }
    return (try completed(), file, preview)
  }

  func discard() async {
    await file?.discard()
    await preview?.discard()
  }

  // MARK: A form

  private func take(_ piece: [UInt8], _ form: inout MultipartDecoder) async throws {
    var start = 0
    while start < piece.count {
      let (event, length): (MultipartDecoder.Event, Int)
      do {
        (event, length) = try form.next(piece.span.extracting(start..<piece.count))
      } catch {
        var problem = Problem.badRequest(error.explanation)
        problem.closesConnection = true
        throw problem
      }
      switch event {
      case .part(let next): try begin(next)
      case .payload(let range): try await give(Array(piece[(start + range.lowerBound)..<(start + range.upperBound)]))
      case .bufferedPayload(let bytes): try await give(bytes)
      case .more, .end: break
      }
      start += length
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

  private func give(_ bytes: [UInt8]) async throws {
    switch part {
    case .none: break
    case .file: try await file?.receive(bytes)
    case .preview: try await preview?.receive(bytes)
    case .field(let name):
      let all = (fields[name] ?? []) + bytes
      guard all.count <= Self.maxInField else { throw Refusal.invalid(name, .tooLong(limit: Self.maxInField)) }
      fields[name] = all
    }
  }

  // MARK: What is said beside

  /// A form says it in its fields, and its file may bring a name.
  private func completed() throws -> FileDraft {
    var draft = draft
    if let text = try text("name") { draft.name = text }
    if let text = try text("type") { draft.type = text }
    if let text = try text("client_id") { draft.clientID = text }
    if let text = try text("public") {
      guard ["true", "false"].contains(text) else { throw Refusal.invalid("public", .invalid) }
      draft.isPublic = text == "true"
    }
    // Some browsers have sent a path.
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
