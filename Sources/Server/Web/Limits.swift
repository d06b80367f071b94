public import ParleyWire

/// Every limit on the resources of a peer, with its default. `--help` and the README print this table.
public struct Limits: Sendable {
  // The head of a request.
  public var requestLine = 8_192
  public var headerBytes = 32_768
  /// `Host` and 100 others.
  public var headers = 101
  // The body.
  public var body = 1 << 20
  // Files.
  public var file = 2_147_483_648
  public var guestFiles = 104_857_600
  public var userFiles = 10_737_418_240
  public var siteFiles = 107_374_182_400
  // Times, in seconds.
  public var handshakeTime = 10
  public var headTime = 15
  public var byteTime = 30
  /// Minimum average rate, in bytes per second.
  public var bodyRate = 512
  public var idleTime = 75
  public var drainTime = 20
  // Connections.
  public var connections = 15_000
  public var connectionsPerAddress = 256
  public var pipelined = 64
  public var output = 1 << 20
  public var memory = 1 << 28
  // WebSockets.
  public var socketMessage = 1 << 18
  public var socketIdleTime = 60
  public var socketMessageTime = 60

  public init() {}

  public var head: HeadLimits { HeadLimits(line: requestLine, fields: headerBytes, count: headers) }

  public struct Entry: Sendable {
    public enum Unit: String, Sendable {
      case bytes, seconds, count
    }

    /// `--limit-<name>` and `PARLEY_LIMIT_<NAME>`.
    public let name: String
    public let unit: Unit
    public let meaning: String
    public let path: any WritableKeyPath<Limits, Int> & Sendable
    /// The accepted values.
    public let range: ClosedRange<Int>
    /// The default as a part of the free space: 2 is half of it. Nil for a default in `Limits`.
    public var freeParts: Int?

    /// The default.
    public var value: Int { Limits()[keyPath: path] }
  }

  /// Replaces a default by its part of the free space.
  public mutating func adapt(_ entry: Entry, toRoomOf size: Int) {
    guard let parts = entry.freeParts else { return }
    self[keyPath: entry.path] = min(max(size / parts, entry.range.lowerBound), entry.range.upperBound)
  }

  public static let all: [Entry] = [
    Entry(
      name: "request-line", unit: .bytes, meaning: "request line, and each header line; else 414 or 431",
      path: \.requestLine, range: 1_024...65_536),
    Entry(
      name: "header-bytes", unit: .bytes, meaning: "all headers of a request; else 431",
      path: \.headerBytes, range: 1_024...1_048_576),
    Entry(name: "headers", unit: .count, meaning: "headers of a request; else 431", path: \.headers, range: 8...1_000),
    Entry(
      name: "body", unit: .bytes, meaning: "request body, unless the route has its own limit; else 413",
      path: \.body, range: 1_024...1_073_741_824),
    Entry(
      name: "file", unit: .bytes, meaning: "one uploaded file; else 413", path: \.file, range: 1_024...1_099_511_627_776
    ),
    Entry(
      name: "guest-files", unit: .bytes, meaning: "all files of one guest or new user; else 413", path: \.guestFiles,
      range: 1_024...1_125_899_906_842_624, freeParts: 200),
    Entry(
      name: "user-files", unit: .bytes, meaning: "all files of one user; else 413", path: \.userFiles,
      range: 1_024...1_125_899_906_842_624, freeParts: 20),
    Entry(
      name: "site-files", unit: .bytes, meaning: "all files of the site; else 413", path: \.siteFiles,
      range: 1_024...1_125_899_906_842_624, freeParts: 2),
    Entry(
      name: "handshake-time", unit: .seconds, meaning: "TLS handshake; else the connection is closed",
      path: \.handshakeTime, range: 1...300),
    Entry(
      name: "head-time", unit: .seconds,
      meaning: "from the connection, or a request's first byte, to the end of its head; else 408",
      path: \.headTime, range: 1...300),
    Entry(
      name: "byte-time", unit: .seconds, meaning: "between two chunks of a request body, or of a response being read",
      path: \.byteTime, range: 1...3_600),
    Entry(
      name: "body-rate", unit: .bytes,
      meaning: "minimum average rate of a request body per second, after one byte-time; else 408",
      path: \.bodyRate, range: 1...1_048_576),
    Entry(
      name: "idle-time", unit: .seconds, meaning: "idle connection between two requests", path: \.idleTime,
      range: 1...3_600),
    Entry(
      name: "drain-time", unit: .seconds, meaning: "for running requests to finish after SIGTERM",
      path: \.drainTime, range: 0...3_600),
    Entry(
      name: "connections", unit: .count, meaning: "connections in total; else 503, or under TLS a close",
      path: \.connections,
      range: 8...1_000_000),
    Entry(
      name: "connections-per-address", unit: .count,
      meaning: "connections of one IPv4 address or one IPv6 /64, trusted proxies apart; else the same",
      path: \.connectionsPerAddress, range: 1...1_000_000),
    Entry(
      name: "pipelined", unit: .count,
      meaning: "requests of one connection handled in a row before other connections have a turn",
      path: \.pipelined, range: 1...10_000),
    Entry(
      name: "output", unit: .bytes, meaning: "unsent output of one connection before its requests wait",
      path: \.output, range: 65_536...1_073_741_824),
    Entry(
      name: "memory", unit: .bytes,
      meaning:
        "buffers of all connections; beyond it 503 or close 1013, and those with the largest are closed",
      path: \.memory, range: 1_048_576...1_099_511_627_776),
    Entry(
      name: "socket-message", unit: .bytes, meaning: "WebSocket message; else close 1009", path: \.socketMessage,
      range: 1_024...1_073_741_824),
    Entry(
      name: "socket-message-time", unit: .seconds,
      meaning: "from a WebSocket message's first byte to its last; else close 1008", path: \.socketMessageTime,
      range: 1...3_600),
    Entry(
      name: "socket-idle-time", unit: .seconds,
      meaning: "silent WebSocket; a ping is sent after half of it", path: \.socketIdleTime,
      range: 2...3_600),
  ]
}
