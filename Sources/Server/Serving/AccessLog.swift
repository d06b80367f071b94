// The access log: one line per request, written on its own queue, so that a slow disk or terminal never blocks an event
// loop. The buffer is bounded. Lines beyond it are dropped and counted.

import Dispatch
import ParleyJSON
import ParleyNetworking
import ParleyWire
import Synchronization
import Web

public final class AccessLog: Sendable {
  public enum Format: String, Sendable, CaseIterable {
    case text, json
  }

  /// The form of clients' addresses.
  public enum AddressForm: Sendable {
    case full
    /// The network: a /24 of IPv4, a /48 of IPv6. Addresses of the machine itself are full.
    case short
  }

  public struct Options: Sendable, Equatable {
    /// Nil for no lines.
    public var format: Format?
    public var addresses: AddressForm

    public init(format: Format?, addresses: AddressForm = .full) {
      (self.format, self.addresses) = (format, addresses)
    }
  }

  private struct State {
    var lines: [UInt8] = []
    var dropped = 0
    var isScheduled = false
  }

  private let options: Mutex<Options>
  private let descriptor: Int32
  private let queue = DispatchQueue(label: "parley.log")
  private let state = Mutex(State())

  private static let maxBufferedBytes = 1 << 20
  /// The size of most lines in text, without the path.
  private static let usualTextWithoutPath = 128

  public init(_ options: Options, descriptor: Int32) {
    self.options = Mutex(options)
    self.descriptor = descriptor
  }

  /// Replaces the options for further lines.
  public func use(_ options: Options) { self.options.withLock { $0 = options } }

  func logRequest(
    _ head: RequestHead, status: Status, sent: Int, id: RequestID, client: IPAddress?, at: Int64, nanoseconds: Int64,
    isAborted: Bool
  ) {
    write(
      method: head.method.name, path: Self.redactSecrets(head.target.path), status: status, sent: sent, id: id,
      client: client, at: at,
      microseconds: Int(nanoseconds / 1_000), isAborted: isAborted)
  }

  /// The length of the shortest secret in a path, an invite code. Hexadecimal numbers of this length are redacted.
  private static let minSecretDigits = 32

  /// The path with each long hexadecimal number cut to its first digits.
  static func redactSecrets(_ path: String) -> String {
    guard path.utf8.count >= minSecretDigits else { return path }
    var shown = ""
    var rest = path.utf8[...]
    var start = rest.startIndex
    while let first = rest.firstIndex(where: \.isHexDigit) {
      let end = rest[first...].firstIndex { !$0.isHexDigit } ?? rest.endIndex
      if path.utf8.distance(from: first, to: end) >= minSecretDigits {
        shown += path[start..<path.utf8.index(first, offsetBy: 4)] + "…"
        start = end
      }
      rest = rest[end...]
    }
    return shown.isEmpty ? path : shown + path[start...]
  }

  func logRejected(status: Status, client: IPAddress?, id: RequestID, at: Int64) {
    write(
      method: "-", path: "-", status: status, sent: 0, id: id, client: client, at: at, microseconds: 0, isAborted: false
    )
  }

  private func write(
    method: String, path: String, status: Status, sent: Int, id: RequestID, client: IPAddress?, at: Int64,
    microseconds: Int, isAborted: Bool
  ) {
    let options = options.withLock { $0 }
    guard let format = options.format else { return }
    var client = client
    if options.addresses == .short, let full = client, !full.isLoopback { client = full.network }
    // The query is not logged: it may have private data.
    var line: [UInt8] = []
    switch format {
    case .text:
      // Most of the time of a small request would go into an interpolated string.
      line.reserveCapacity(path.utf8.count + Self.usualTextWithoutPath)
      Timestamp(at).append(to: &line)
      line.append(UInt8(ascii: " "))
      if let client { client.append(to: &line) } else { line.append("unix") }
      line.append(UInt8(ascii: " "))
      line.append(method)
      line.append(UInt8(ascii: " "))
      line.append(path)
      line.append(UInt8(ascii: " "))
      line.append(decimal: status.code)
      line.append(UInt8(ascii: " "))
      line.append(decimal: sent)
      line.append(UInt8(ascii: " "))
      line.append(decimal: microseconds)
      line.append("us ")
      id.append(to: &line)
      line.append(isAborted ? " cut\n" : "\n")
    case .json:
      var json = JSONWriter()
      json.object { json in
        json.field("at", Timestamp.format(Int(at)))
        json.field("client", client?.description ?? "unix")
        json.field("method", method)
        json.field("path", path)
        json.field("status", status.code)
        json.field("bytes", sent)
        json.field("microseconds", microseconds)
        json.field("request", id.description)
        if isAborted { json.field("cut", true) }
      }
      line = json.bytes
      line.append(10)
    }
    append(line)
  }

  private func append(_ line: [UInt8]) {
    let mustSchedule = state.withLock { state in
      guard state.lines.count + line.count <= Self.maxBufferedBytes else {
        state.dropped += 1
        return false
      }
      state.lines.append(contentsOf: line)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if mustSchedule { queue.asyncAfter(deadline: .now() + .milliseconds(20)) { self.flush() } }
  }

  /// Flushes the buffer and waits for the write.
  public func finish() {
    queue.sync { flush() }
  }

  private func flush() {
    let (lines, dropped) = state.withLock { state in
      defer { state = State() }
      return (state.lines, state.dropped)
    }
    Descriptor.writeAll(lines, to: descriptor)
    guard dropped > 0 else { return }
    switch options.withLock({ $0 }).format {
    case .text, nil: Descriptor.writeAll(Array("\(dropped) log lines were dropped\n".utf8), to: descriptor)
    case .json: Descriptor.writeAll(Array("{\"dropped\":\(dropped)}\n".utf8), to: descriptor)
    }
  }
}

extension UInt8 {
  fileprivate var isHexDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}
