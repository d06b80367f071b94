import ParleyCrypto
import ParleyJSON
import ParleyModel
import ParleyWire

/// A request to an endpoint (Standard Webhooks, https://www.standardwebhooks.com).
struct WebhookMessage: Sendable {
  /// The same for all attempts.
  let id: String
  let type: String
  let body: [UInt8]

  /// - Parameters:
  ///   - time: of the event, in milliseconds since 1970.
  ///   - data: JSON.
  init(_ id: String, type: String, at time: Int64, data: [UInt8]) {
    self.id = id
    self.type = type
    var json = JSONWriter()
    json.object { json in
      json.field("type", type)
      json.field("timestamp", Timestamp(time))
      json.field("data", JSONRaw(trusted: data))
    }
    body = json.bytes
  }

  /// The headers of an attempt. Each secret signs, so that the server may have either during a rotation.
  ///
  /// - Parameter now: seconds since 1970.
  func fields(signedBy secrets: [[UInt8]], now: Int64) throws(CryptoError) -> Fields {
    let content = Array("\(id).\(now).".utf8) + body
    var signatures: [String] = []
    for secret in secrets {
      signatures.append("v1,\(Base64.encode(try HMAC.sha256(of: content, key: secret)))")
    }
    return [
      "Content-Type": "application/json", "User-Agent": "Parley-Webhooks", "webhook-id": id,
      "webhook-timestamp": "\(now)", "webhook-signature": signatures.joined(separator: " "),
    ]
  }
}
