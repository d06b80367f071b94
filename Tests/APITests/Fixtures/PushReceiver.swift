import Foundation
import ParleyCrypto
import ParleyWire
import Synchronization
import Testing

@testable import Community
@testable import WebPush

/// Stands in for push services: keeps the requests, and decrypts them as the devices do.
final class PushReceiver: Sendable {
  /// A device: a path at the push service, and its keys.
  struct Device: Sendable {
    let endpoint: String
    let key: P256
    let auth: [UInt8]

    init(_ name: String) throws {
      endpoint = "https://push.example.net/\(name)"
      key = try P256()
      auth = try SecureRandom.bytes(16)
    }

    var draft: [String: Any] {
      let keys = ["p256dh": Base64.encode(key.point, .url), "auth": Base64.encode(auth, .url)]
      return ["endpoint": endpoint, "keys": keys, "name": "Phone"]
    }

    /// The message of a request (RFC 8291), as JSON.
    func open(_ request: PushRequest) throws -> Answer {
      let body = request.body
      let sender = Array(body[21..<86])
      let info = Array("WebPush: info\0".utf8) + key.point + sender
      let secret = try HKDF.sha256(key.agree(with: sender), salt: auth, info: info, byteCount: 32)
      var plain = try #require(
        try RecordKeys(secret: secret, salt: Array(body[..<16])).open(Array(body[86...]), number: 0))
      while plain.last == 0 { plain.removeLast() }
      #expect(plain.popLast() == 2)
      return Answer(status: 201, fields: [:], body: plain)
    }
  }

  private struct State {
    var requests: [PushRequest] = []
    var outcome = PushOutcome.accepted
  }

  private let state = Mutex(State())

  func receive(_ request: PushRequest) -> PushOutcome {
    state.withLock { state in
      state.requests.append(request)
      return state.outcome
    }
  }

  func answer(with outcome: PushOutcome) { state.withLock { $0.outcome = outcome } }

  /// The requests since the last call.
  func take() -> [PushRequest] {
    state.withLock { state in
      defer { state.requests = [] }
      return state.requests
    }
  }

  static let examine: @Sendable (String) -> PushService.Address = { endpoint in
    guard let address = WebAddress(endpoint), address.scheme == .https else { return .invalid }
    return address.host == "push.example.net" ? .accepted : .refused
  }
}

extension PushRequest {
  subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}

extension Village {
  /// Subscribes a device. Returns it and the id of its subscription.
  func subscribe(_ name: String, _ device: String? = nil) async throws -> (device: PushReceiver.Device, id: String) {
    let device = try PushReceiver.Device(device ?? name)
    let made = try await expect(201, .post, "/me/push-subscriptions", as: name, device.draft)
    return (device, try #require(made["id"]))
  }

  /// The requests of one round of the queue.
  func push() async -> [PushRequest] {
    await pushDeliverer.round()
    await pushDeliverer.finish()
    return pushReceiver.take()
  }
}
