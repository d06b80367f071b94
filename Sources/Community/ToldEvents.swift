import Model
import Synchronization

/// What was told of the log last, as it was encoded. When all come back at once, after a restart or a lost network, most
/// have missed the same; with this each of them costs a look for the place, and not every message read and written anew.
///
/// It holds for one end of the log. Whatever changes what an event tells is an event itself, in the same transaction, so
/// with the next one all of it is forgotten.
final class ToldEvents: Sendable {
  struct Key: Hashable {
    let event: Int
    let reader: StreamReader
  }

  private struct State {
    var head = 0
    var texts: [Key: [UInt8]] = [:]
    var size = 0
  }

  private let state = Mutex(State())

  /// Of JSON. What does not fit is read anew each time.
  static let mostBytes = 4 << 20

  func texts(at head: Int) -> [Key: [UInt8]] { state.withLock { $0.head == head ? $0.texts : [:] } }

  func add(_ texts: [Key: [UInt8]], at head: Int) {
    state.withLock { state in
      // A slower reader has still seen an older end.
      guard head >= state.head else { return }
      if head > state.head { state = State(head: head) }
      for (key, text) in texts where state.size + text.count <= Self.mostBytes && state.texts[key] == nil {
        state.texts[key] = text
        state.size += text.count
      }
    }
  }
}
