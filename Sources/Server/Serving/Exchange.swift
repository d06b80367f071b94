import ParleyWire
import Web

/// One request and its answer, while they are under way.
final class Exchange {
  let head: RequestHead
  let id: RequestID
  let began: Int64
  let plan: Application.Plan
  let body: RequestBody
  /// Finds the body in what comes in; nil when there is none.
  var decoder: BodyDecoder?
  /// Whether the connection may serve another request after this one.
  var keepsAlive: Bool
  var isStarted = false
  var isAnswered = false
  /// The client waits for 100, and nothing of the body has come.
  var owesContinue: Bool

  /// Since when the client owes the body. Moved on by the time in which the client had to wait for us.
  var bodyStartedAt: Int64

  // How the answer is framed, and how far it is.
  var status: Status = 0
  var isChunked = false
  /// The length that the head of the answer gave.
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
    owesContinue = head.expectsContinue
  }

  /// Until when the body has to have gone on, so that it comes at the rate that it has to on the whole.
  func bodyDeadline(_ limits: Limits) -> Int64 {
    bodyStartedAt + Int64(limits.byteTime) * 1_000_000_000 + Int64(body.received) * 1_000_000_000 / Int64(limits.bodyRate)
  }
}
