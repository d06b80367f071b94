/// An element of a live connection.
public enum LiveUpdate: Sendable {
  /// An event. The events of a stream are in order, without duplicates or gaps.
  case event(LiveFrame)
  /// Typing, presence or an app signal. Signals may be lost.
  case signal(LiveFrame)
  /// The catch-up is complete; further events are live.
  case live(cursor: String)
  /// The server has restarted since it made the cursor, perhaps with an older copy of its data. It has all events up to the
  /// cursor, which `cursor` replaces; all later data of the client is unconfirmed. The events after it follow.
  case restarted(cursor: String)
  /// The missed events are not available. The client verifies its cache, then resumes from `cursor`.
  case reset(reason: String, cursor: String)
  /// The connection is lost. It reconnects after the delay, or when `networkAvailable` is called.
  case disconnected(ClientFault, milliseconds: Int)
  /// The connection has ended for good: the session was revoked, or the server's protocol is unknown.
  case ended(ClientFault)
}
