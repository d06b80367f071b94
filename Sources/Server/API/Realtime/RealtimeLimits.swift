import Community
import Web

/// The limits of a client on a WebSocket.
enum RealtimeLimits {
  /// The maximum size of the send queue in bytes.
  static let queue = 262_144
  /// The size of the send queue in bytes above which signals are dropped.
  static let signalQueue = 65_536
  /// The maximum size of a message in bytes until the client is identified. Later `Limits.socketMessage` applies.
  static let unidentifiedMessage = 4_096
  /// The bytes that compressed messages may inflate to.
  static let inflation = InflationRate(burst: 1 << 20, perSecond: 65_536)
  /// The number of malformed commands, or commands above the rate limit, within a minute that closes the socket.
  static let refusedCommands = 20
  /// The rate limit of commands.
  static let commands = Allowance(burst: 256, perMinute: 1_200)
  /// The authentication timeout in milliseconds.
  static let identification: Int64 = 10_000
  /// The interval in milliseconds at which an open connection counts as a use of its session: 12 hours, less than the
  /// shortest lifetime without use.
  static let sessionUse: Int64 = 43_200_000
  /// The send timeout in milliseconds: the time without progress of a non-empty queue.
  static let sendTimeout: Int64 = 30_000
  /// The size of a catch-up page.
  static let page = PageBounds(events: 200, bytes: 131_072)
  /// The conversations on the screen that a device names with its presence.
  static let shownConversations = 16
  /// The maximum size of published app data in bytes.
  static let appBytes = 16_384
}
