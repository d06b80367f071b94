import ParleyWire
import Web

/// A request and its response while they are in progress.
final class Exchange {
  let head: RequestHead
  let id: RequestID
  let began: Int64
  let plan: Application.Plan
  let body: RequestBody
  /// Decodes the framing of the body; nil without a body.
  var decoder: BodyDecoder?
  /// Whether the connection is kept alive after this request.
  var keepsAlive: Bool
  var isStarted = false
  var isAnswered = false
  /// The client waits for 100 (Continue), and no bytes of the body have arrived.
  var awaitsContinue: Bool

  /// The start of the body's transfer. Shifted by the time during which reading was paused.
  var bodyStartedAt: Int64

  // The framing and the progress of the response.
  var status: Status = 0
  var isChunked = false
  /// The `Content-Length` of the response.
  var declaredLength: Int?
  var sent = 0

  init(
    head: RequestHead, id: RequestID, began: Int64, plan: Application.Plan, body: RequestBody, decoder: BodyDecoder?,
    keepsAlive: Bool
  ) {
    self.head = head
    self.id = id
    self.began = began
    bodyStartedAt = began
    self.plan = plan
    self.body = body
    self.decoder = decoder
    self.keepsAlive = keepsAlive
    awaitsContinue = head.expectsContinue
  }

  /// The deadline of the next bytes of the body, at the minimum average rate `bodyRate` after `byteTime`.
  func bodyDeadline(_ limits: Limits) -> Int64 {
    bodyStartedAt + Int64(limits.byteTime) * 1_000_000_000 + Int64(body.received) * 1_000_000_000
      / Int64(limits.bodyRate)
  }
}
