import ParleyJSON
public import ParleyModel

// Incoming webhooks.

extension Request where Response == Resource<NewWebhook> {
  /// `POST /webhooks`
  ///
  /// A repeated request returns no URL, so the request is not retried automatically.
  public static func createWebhook(_ draft: WebhookDraft) -> Request {
    Request(.post, "/webhooks", body: .value(draft))
  }

  /// `POST /webhooks/{id}/secret`
  public static func rotateWebhookSecret(_ webhook: ID<Webhook>) -> Request {
    Request(.post, "/webhooks/{id}/secret", [webhook.description])
  }
}

extension Request where Response == Resource<Webhook> {
  /// `GET /webhooks/{id}`
  public static func getWebhook(_ webhook: ID<Webhook>) -> Request {
    Request(.get, "/webhooks/{id}", [webhook.description])
  }

  /// `PATCH /webhooks/{id}`
  public static func updateWebhook(_ webhook: ID<Webhook>, _ change: WebhookChange) -> Request {
    Request(.patch, "/webhooks/{id}", [webhook.description], body: .value(change))
  }
}

extension Request where Response == Resource<Message> {
  /// `POST /hooks/{secret}`
  ///
  /// - Parameters:
  ///   - text: Markdown.
  ///   - name: the name of the sender, for this message.
  ///   - clientID: the idempotency key.
  public static func postToWebhook(
    _ secret: String, _ text: String, as name: String? = nil, clientID: String? = nil
  ) -> Request {
    let body = RequestBody.object { json in
      json.field("text", text)
      json.optional("username", name)
      json.optional("client_id", clientID)
    }
    return Request(.post, "/hooks/{secret}", [secret], query: [QueryItem("format", "markdown")], body: body)
      .withClientID(clientID)
  }
}

extension Request where Response == Void {
  /// `DELETE /webhooks/{id}`
  public static func deleteWebhook(_ webhook: ID<Webhook>) -> Request {
    Request(.delete, "/webhooks/{id}", [webhook.description])
  }
}

extension Request where Response == Page<Resource<Webhook>> {
  /// `GET /webhooks`
  public static func listWebhooks(limit: Int? = nil, next: String? = nil, previous: String? = nil) -> Request {
    Request(
      .get, "/webhooks",
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}
