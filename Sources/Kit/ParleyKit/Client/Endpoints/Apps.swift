import ParleyJSON
public import ParleyModel

// Apps: other programs that users let act for them. An app itself uses `AppAuthorization`.

extension Request where Response == Resource<NewApp> {
  /// `POST /apps`
  ///
  /// A repeated request returns no secret, so the request is not retried automatically.
  public static func createApp(_ draft: AppDraft) -> Request { Request(.post, "/apps", body: .value(draft)) }

  /// `POST /apps/{id}/secret`
  public static func rotateAppSecret(_ app: ID<App>) -> Request {
    Request(.post, "/apps/{id}/secret", [app.description])
  }
}

extension Request where Response == Resource<App> {
  /// `GET /apps/{id}`
  public static func getApp(_ app: ID<App>) -> Request { Request(.get, "/apps/{id}", [app.description]) }

  /// `PATCH /apps/{id}`
  public static func updateApp(_ app: ID<App>, _ change: AppChange) -> Request {
    Request(.patch, "/apps/{id}", [app.description], body: .value(change))
  }
}

extension Request where Response == Void {
  /// `DELETE /apps/{id}`
  public static func deleteApp(_ app: ID<App>) -> Request { Request(.delete, "/apps/{id}", [app.description]) }

  /// `DELETE /me/apps/{id}`
  public static func disconnectApp(_ app: ID<App>) -> Request {
    Request(.delete, "/me/apps/{id}", [app.description])
  }
}

extension Request where Response == Page<Resource<App>> {
  /// `GET /apps`
  public static func listApps(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/apps", query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Page<Resource<ConnectedApp>> {
  /// `GET /me/apps`
  public static func listConnectedApps(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/me/apps", query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}
