/// What a live connection tells.
public enum LiveNews: Sendable {
  /// Something has happened. Events of a stream come in their order, none twice and none left out.
  case event(LiveFrame)
  /// Typing, presence, and what programs tell each other: it may be lost.
  case signal(LiveFrame)
  /// All that was missed has come; from here on it is told as it happens.
  case live(cursor: String)
  /// What was missed can't be told: what is held is compared and fetched anew, and then goes on from this cursor.
  case reset(reason: String, cursor: String)
  /// The connection is gone; it comes back by itself after so many milliseconds, or when `hurry` is called.
  case away(ClientFault, milliseconds: Int)
  /// It will not come back: who asks has to sign in again, or the two do not understand each other.
  case ended(ClientFault)
}
