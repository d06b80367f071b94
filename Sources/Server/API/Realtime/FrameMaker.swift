import ParleyWire
import PubSub
import Synchronization

/// Encodes JSON as WebSocket frames, once for all subscribers.
final class FrameMaker: Sendable {
  private let streams = Mutex(DeflateStreams())

  func frame(_ json: [UInt8], isCompressed: Bool) -> Frame {
    guard isCompressed else { return Frame(text: json, framed: SharedFrame(text: json).plain, deflated: nil) }
    let shared = streams.withLock { SharedFrame(text: json, deflatedBy: $0) }
    return Frame(text: json, framed: shared.plain, deflated: shared.deflated)
  }
}

extension SharedFrame {
  init(_ frame: Frame) { self.init(plain: frame.framed, deflated: frame.deflated) }
}
