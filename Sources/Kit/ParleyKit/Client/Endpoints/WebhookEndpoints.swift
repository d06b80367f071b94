import ParleyJSON
public import ParleyModel

// Outgoing webhooks.

extension Request where Response == Resource<NewWebhookEndpoint> {
  /// `POST /webhook-endpoints`
  ///
  /// A repeated request returns no secret, so the request is not retried automatically.
  public static func createWebhookEndpoint(_ draft: WebhookEndpointDraft) -> Request {
    Request(.post, "/webhook-endpoints", body: .value(draft))
  }

  /// `POST /webhook-endpoints/{id}/secret`
  public static func rotateWebhookEndpointSecret(_ endpoint: ID<WebhookEndpoint>) -> Request {
    Request(.post, "/webhook-endpoints/{id}/secret", [endpoint.description])
  }
}

extension Request where Response == Resource<WebhookEndpoint> {
  /// `GET /webhook-endpoints/{id}`
  public static func getWebhookEndpoint(_ endpoint: ID<WebhookEndpoint>) -> Request {
    Request(.get, "/webhook-endpoints/{id}", [endpoint.description])
  }

  /// `PATCH /webhook-endpoints/{id}`
  public static func updateWebhookEndpoint(
    _ endpoint: ID<WebhookEndpoint>, _ change: WebhookEndpointChange
  ) -> Request {
    Request(.patch, "/webhook-endpoints/{id}", [endpoint.description], body: .value(change))
  }
}

extension Request where Response == Resource<WebhookDelivery> {
  /// `POST /webhook-endpoints/{id}/deliveries/{delivery}/redeliver`
  public static func redeliverWebhook(
    _ delivery: ID<WebhookDelivery>, of endpoint: ID<WebhookEndpoint>
  ) -> Request {
    Request(
      .post, "/webhook-endpoints/{id}/deliveries/{delivery}/redeliver", [endpoint.description, delivery.description])
  }
}

extension Request where Response == Void {
  /// `DELETE /webhook-endpoints/{id}`
  public static func deleteWebhookEndpoint(_ endpoint: ID<WebhookEndpoint>) -> Request {
    Request(.delete, "/webhook-endpoints/{id}", [endpoint.description])
  }
}

extension Request where Response == Page<Resource<WebhookEndpoint>> {
  /// `GET /webhook-endpoints`
  public static func listWebhookEndpoints(
    limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/webhook-endpoints",
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}

extension Request where Response == Page<Resource<WebhookDelivery>> {
  /// `GET /webhook-endpoints/{id}/deliveries`
  public static func listWebhookDeliveries(
    of endpoint: ID<WebhookEndpoint>, limit: Int? = nil, next: String? = nil, previous: String? = nil
  ) -> Request {
    Request(
      .get, "/webhook-endpoints/{id}/deliveries", [endpoint.description],
      query: [QueryItem("limit", limit), QueryItem("next", next), QueryItem("previous", previous)])
  }
}
