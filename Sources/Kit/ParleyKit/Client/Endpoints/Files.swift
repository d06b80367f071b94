import ParleyJSON
public import ParleyModel

// Files and resumable uploads. Apps mostly use `Client.upload` and `Client.download`.

extension Request where Response == Resource<File> {
  /// `POST /files`
  public static func uploadFile(
    name: String, type: String? = nil, public isPublic: Bool? = nil, clientID: String? = nil, _ body: RequestBody
  ) -> Request {
    Request(
      .post, "/files",
      query: [
        QueryItem("name", name), QueryItem("type", type), QueryItem("public", isPublic),
        QueryItem("client_id", clientID),
      ], body: body
    ).withClientID(clientID)
  }

  /// `GET /files/{id}`
  public static func getFile(_ file: ID<File>) -> Request {
    Request(.get, "/files/{id}", [file.description])
  }

  /// `PUT /files/{id}/preview`
  public static func setFilePreview(of file: ID<File>, _ body: RequestBody) -> Request {
    Request(.put, "/files/{id}/preview", [file.description], body: body)
  }
}

extension Request where Response == Resource<UploadProgress> {
  /// `POST /uploads`
  ///
  /// - Parameter size: in bytes.
  public static func createUpload(
    name: String, size: Int, type: String? = nil, public isPublic: Bool? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("name", name)
      json.field("size", size)
      json.optional("type", type)
      json.optional("public", isPublic)
      json.optional("client_id", clientID)
    }
    return Request(.post, "/uploads", body: body).withClientID(clientID)
  }

  /// `GET /uploads/{id}`
  public static func getUpload(_ upload: ID<Upload>) -> Request {
    Request(.get, "/uploads/{id}", [upload.description])
  }
}

extension Request where Response == Resource<LinkedPage> {
  /// `POST /previews`
  public static func createLinkPreview(of address: String, keep: Bool? = nil) -> Request {
    let body = RequestBody.object { json in
      json.field("url", address)
      json.optional("keep", keep)
    }
    return Request(.post, "/previews", body: body)
  }
}

extension Request where Response == Page<Resource<File>> {
  /// `GET /files`
  public static func listFiles(ids: [ID<File>]? = nil, limit: Int? = nil, next: String? = nil, previous: String? = nil)
    -> Request
  {
    Request(
      .get, "/files",
      query: [
        QueryItem("ids", ids: ids), QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous),
      ])
  }
}

extension Request where Response == Void {
  /// `DELETE /files/{id}`
  public static func deleteFile(_ file: ID<File>) -> Request {
    Request(.delete, "/files/{id}", [file.description])
  }

  /// `DELETE /uploads/{id}`
  public static func cancelUpload(_ upload: ID<Upload>) -> Request {
    Request(.delete, "/uploads/{id}", [upload.description])
  }
}

extension Request where Response == RawResponse {
  /// `GET /files/{id}/content`
  public static func getFileContent(of file: ID<File>, width: Int? = nil, height: Int? = nil) -> Request {
    Request(
      .get, "/files/{id}/content", [file.description], query: [QueryItem("w", width), QueryItem("h", height)])
  }

  /// `GET /files/{id}/preview`
  public static func getFilePreview(of file: ID<File>) -> Request {
    Request(.get, "/files/{id}/preview", [file.description])
  }

  /// `PATCH /uploads/{id}`
  public static func appendToUpload(_ upload: ID<Upload>, _ body: RequestBody) -> Request {
    Request(.patch, "/uploads/{id}", [upload.description], body: body)
  }

  /// `GET /previews/{key}/picture`
  public static func getLinkPreviewPicture(_ key: String) -> Request {
    Request(.get, "/previews/{key}/picture", [key])
  }
}

extension Request where Response == Resource<FileLink> {
  /// `POST /files/{id}/link`
  public static func createFileLink(_ file: ID<File>) -> Request {
    Request(.post, "/files/{id}/link", [file.description])
  }
}
