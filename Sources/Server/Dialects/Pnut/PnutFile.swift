import Community
import ParleyCrypto
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// A file of pnut. It is complete as soon as it exists.
struct PnutFile: JSONWritable {
  let file: File
  let owner: PnutUser?
  let source: PnutSource
  /// Nil for visitors, who read the file without one.
  let link: SignedFileLink?
  let origin: String
  let shows: PnutOptions

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", file.id)
      json.field("pagination_id", file.id)
      if let type = file.type { json.field("type", type) }
      json.field("kind", ["image", "audio", "video"].contains(file.kind) ? file.kind : "other")
      json.field("name", file.name)
      json.field("mime_type", file.mimeType)
      json.field("size", file.size)
      json.field("total_size", file.size + (file.preview?.size ?? 0))
      json.field("sha256", Hex.text(file.digest))
      json.field("created_at", PnutCall.time(file.createdAt))
      json.field("is_complete", true)
      json.field("is_public", file.isPublic)
      json.field("url", address("content"))
      if let link {
        json.field("url_expires_at", PnutCall.time(link.endsAt))
        json.field("file_token", link.token)
      }
      if let width = file.width, let height = file.height {
        json.object("image_info") { json in
          json.field("width", width)
          json.field("height", height)
        }
      }
      if let preview = file.preview { write(preview, to: &json) }
      if let owner { json.field("user", owner) } else { json.field("user_id", file.owner) }
      json.field("source", source)
      if shows.raw("file") { json.object("raw") { _ in } }
    }
  }

  private func address(_ part: String) -> String {
    let address = "\(origin)/api/v1/files/\(file.id)/\(part)"
    guard let link else { return address }
    return "\(address)?link=\(link.token)"
  }

  /// The preview of the uploader, in place of the pictures that pnut makes.
  private func write(_ preview: File.Preview, to json: inout JSONWriter) {
    json.object("derived_files") { json in
      json.object("core_image_960r") { json in
        json.field("mime_type", preview.mimeType)
        json.field("size", preview.size)
        json.field("url", address("preview"))
        if let link { json.field("url_expires_at", PnutCall.time(link.endsAt)) }
        json.object("image_info") { json in
          json.field("width", preview.width)
          json.field("height", preview.height)
        }
      }
    }
  }
}

extension PnutCall {
  func shown(_ files: [File]) throws -> [PnutFile] {
    guard !files.isEmpty else { return [] }
    let (users, source) = (try users(files.map(\.owner)), try source())
    return try files.map { file in
      PnutFile(
        file: file, owner: users[file.owner], source: source,
        link: try caller.user == nil ? nil : view.createFileLink(to: file.id, for: caller), origin: origin,
        shows: shows)
    }
  }

  func one(_ file: File, _ status: Status = .ok) throws -> Response { .envelope(try shown([file]).first, status) }
}
