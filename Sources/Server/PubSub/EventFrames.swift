import Synchronization

/// The frames of an event, shared by all recipients. Nearly all of them get the event with its cursor, so that frame is
/// made at once; the first recipient that must not store the cursor makes the other.
public final class EventFrames: Sendable {
  public let withCursor: Frame
  private let json: [UInt8]
  private let makeFrame: @Sendable ([UInt8]) -> Frame
  private let bare = Mutex<Frame?>(nil)

  public init(_ json: [UInt8], cursor: String, makeFrame: @escaping @Sendable ([UInt8]) -> Frame) {
    self.json = json
    self.makeFrame = makeFrame
    withCursor = makeFrame(Self.adding(cursor, to: json))
  }

  /// Encoded on first use.
  public var withoutCursor: Frame {
    bare.withLock { bare in
      if let bare { return bare }
      let frame = makeFrame(json)
      bare = frame
      return frame
    }
  }

  /// Memory use in bytes.
  var size: Int { json.count + withCursor.size }

  /// The JSON object of an event with the member `cursor` at its end.
  public static func adding(_ cursor: String, to json: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(json.count + cursor.utf8.count + 12)
    bytes.append(contentsOf: json.dropLast())
    bytes.append(contentsOf: #","cursor":""#.utf8)
    bytes.append(contentsOf: cursor.utf8)
    bytes.append(contentsOf: #""}"#.utf8)
    return bytes
  }
}
