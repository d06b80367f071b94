import ParleyJSON
public import ParleyModel

// Files, whole and in parts. `Client.upload` and `Client.download` do what an app mostly wants.

extension Request where Answer == Resource<File> {
  /// `POST /files`
  public static func postFile(
    name: String, type: String? = nil, public isPublic: Bool? = nil, clientID: String? = nil, _ body: RequestBody
  ) -> Request {
    Request(
      .post, "/files",
      query: [
        QueryItem("name", name), QueryItem("type", type), QueryItem("public", isPublic),
        QueryItem("client_id", clientID),
      ], body: body
    ).named(clientID)
  }

  /// `GET /files/{id}`
  public static func file(_ file: ID<File>) -> Request {
    Request(.get, "/files/{id}", [file.description])
  }

  /// `PUT /files/{id}/preview`
  public static func setFilePreview(of file: ID<File>, _ body: RequestBody) -> Request {
    Request(.put, "/files/{id}/preview", [file.description], body: body)
  }
}

extension Request where Answer == Resource<UploadProgress> {
  /// `POST /uploads`
  ///
  /// - Parameter size: in bytes.
  public static func beginUpload(
    name: String, size: Int, type: String? = nil, public isPublic: Bool? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("name", name)
      json.field("size", size)
      json.given("type", type)
      json.given("public", isPublic)
      json.given("client_id", clientID)
    }
    return Request(.post, "/uploads", body: body).named(clientID)
  }

  /// `GET /uploads/{id}`
  public static func upload(_ upload: ID<Upload>) -> Request {
    Request(.get, "/uploads/{id}", [upload.description])
  }
}

extension Request where Answer == Resource<LinkedPage> {
  /// `POST /previews`: what stands behind a link.
  public static func preview(of address: String, keep: Bool? = nil) -> Request {
    let body = RequestBody.object { json in
      json.field("url", address)
      json.given("keep", keep)
    }
    return Request(.post, "/previews", body: body)
  }
}

extension Request where Answer == Page<Resource<File>> {
  /// `GET /files`
  public static func files(ids: String? = nil, limit: Int? = nil, next: String? = nil) -> Request {
    Request(.get, "/files", query: [QueryItem("ids", ids), QueryItem("limit", limit), QueryItem("next", next)])
  }
}

extension Request where Answer == Void {
  /// `DELETE /files/{id}`
  public static func deleteFile(_ file: ID<File>) -> Request {
    Request(.delete, "/files/{id}", [file.description])
  }

  /// `DELETE /uploads/{id}`
  public static func giveUpUpload(_ upload: ID<Upload>) -> Request {
    Request(.delete, "/uploads/{id}", [upload.description])
  }
}

extension Request where Answer == Reply {
  /// `GET /files/{id}/content`
  public static func fileContent(of file: ID<File>, width: Int? = nil, height: Int? = nil) -> Request {
    Request(
      .get, "/files/{id}/content", [file.description], query: [QueryItem("w", width), QueryItem("h", height)])
  }

  /// `GET /files/{id}/preview`
  public static func filePreview(of file: ID<File>) -> Request {
    Request(.get, "/files/{id}/preview", [file.description])
  }

  /// `PATCH /uploads/{id}`
  public static func continueUpload(_ upload: ID<Upload>, _ body: RequestBody) -> Request {
    Request(.patch, "/uploads/{id}", [upload.description], body: body)
  }

  /// `GET /previews/{key}/picture`
  public static func previewPicture(_ key: String) -> Request {
    Request(.get, "/previews/{key}/picture", [key])
  }
}

extension Request where Answer == Resource<FileLink> {
  /// `POST /files/{id}/link`
  public static func linkFile(_ file: ID<File>) -> Request {
    Request(.post, "/files/{id}/link", [file.description])
  }
}
