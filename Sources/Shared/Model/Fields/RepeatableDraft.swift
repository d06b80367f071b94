public import ParleyJSON

/// A request to create an object that is recognized when it is repeated: it has the same `client_id` and content.
public protocol RepeatableDraft: Sendable {
  /// Idempotency key of 1 to 64 characters; nil for a request that can't be repeated safely.
  var clientID: String? { get set }
  /// The request without its `client_id`, as JSON: the same for a repeated request.
  var content: [UInt8] { get }
}

extension RepeatableDraft where Self: JSONWritable {
  /// The JSON of the draft without `client_id`.
  public var content: [UInt8] {
    var json = JSONWriter()
    var draft = self
    draft.clientID = nil
    json.value(draft)
    return json.bytes
  }
}
