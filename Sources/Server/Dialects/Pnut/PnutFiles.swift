import Community
import ParleyModel
import ParleyWire
import Web

extension Pnut {
  static func addFiles(to table: inout Table) throws {
    let file = "/files/{id}"
    try table.on(.post, "/files", as: "POST /files", isUpload: true) { try await $0.createFile() }
    try table.on(.get, "/files", as: "GET /files") { try $0.getFiles() }
    try table.on(.get, "/users/me/files", as: "GET /files") { try await $0.listOwnFiles() }
    try table.on(.get, file, as: "GET /files/{id}") { call in
      try call.one(try call.view.getFile(try call.id(), for: call.caller).file)
    }
    for method in [Method.put, .patch] {
      try table.on(method, file, as: "DELETE /files/{id}") { try $0.refuseChangeOfFile() }
    }
    try table.on(.delete, file, as: "DELETE /files/{id}") { try await $0.deleteFile() }
    try table.on(.get, "\(file)/content", as: "GET /files/{id}/content") { try $0.getFileContent() }
    try table.on(.put, "\(file)/content", as: "DELETE /files/{id}", isUpload: true) { try $0.refuseChangeOfFile() }
    try addPolls(to: &table)
  }
}

extension PnutCall {
  func createFile() async throws -> Response {
    guard received.isMultipart else {
      throw EnvelopeFailure(.badRequest, "A file needs its content: a multipart form with the part content.")
    }
    let (made, isNew) = try await receiveFile(in: "content", isPublic: nil)
    return try one(made.file, isNew ? .created : .ok)
  }

  /// Receives the file of a form, and creates it.
  ///
  /// - Parameters:
  ///   - part: the name of the part with the file.
  ///   - isPublic: whether everyone may read it; nil reads it from the form.
  func receiveFile(in part: String, isPublic: Bool?) async throws -> (made: CreatedFile, isNew: Bool) {
    let request = context.request
    let intake = try community.intake(for: caller, announced: request.body.contentLength, view)
    do {
      let form = try await FormUpload(request, file: part) { bytes in
        // A revoked session ends the upload.
        guard try view.isSessionValid(caller) else { throw Refusal.unauthenticated }
        try await intake.receive(bytes)
      }
      guard let fileName = form.fileName else { throw Refusal.invalid(part, .missing) }
      let name = try form.fields.text("name") ?? fileName.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? ""
      let draft = FileDraft(
        name: name.isEmpty ? part : name, type: try form.fields.text("type"),
        isPublic: try isPublic ?? form.fields.flag("is_public") ?? false)
      let made = try await community.createFile(draft, of: intake, by: caller)
      return (made, made.isNew)
    } catch {
      await intake.discard()
      throw error
    }
  }

  func getFiles() throws -> Response { .envelope(try shown(try view.listFiles(try query.ids("ids"), for: caller))) }

  func listOwnFiles() async throws -> Response {
    try await page(
      IDRange.Source<File>(id: { $0.id.number }, read: { page in try view.listFiles(page, for: caller) }),
      showing: { try shown($0) })
  }

  /// The content and the attributes of a file never change.
  func refuseChangeOfFile() throws -> Response {
    let file = try view.getFile(try id(), for: caller).file
    guard file.owner == caller.user else { throw Refusal.forbidden }
    throw EnvelopeFailure(.forbidden, "A file of this site never changes. Create another one.")
  }

  func deleteFile() async throws -> Response {
    let file = try view.getFile(try id(), for: caller).file
    let shown = try shown([file]).first
    try await community.deleteFile(file.id, by: caller)
    return .envelope(shown)
  }

  /// A signed link on the same origin. Visitors get the address of a file that they may read.
  func getFileContent() throws -> Response {
    let id: ID<File> = try id()
    let address = "\(origin)/api/v1/files/\(id)/content"
    guard caller.user != nil else {
      _ = try view.getFile(id, for: caller)
      return .redirect(to: address)
    }
    let link = try view.createFileLink(to: id, for: caller)
    return .redirect(to: "\(address)?link=\(link.token)")
  }
}
