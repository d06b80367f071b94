public import Observation
import Synchronization

/// A thing that an app holds on to, such as a user: there is one object for it, and `value` changes whenever the thing does.
///
/// Views that read `value` follow it by themselves. Elsewhere, `for await value in Observations({ object.value })` does. It
/// changes on the cache's own thread.
public final class Observed<Value: Sendable & Equatable>: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let state = Mutex<Value?>(nil)

  init() {}

  /// Nil where it is not held: not yet, or not any more.
  public var value: Value? {
    registrar.access(self, keyPath: \.value)
    return state.withLock { $0 }
  }

  func set(_ new: Value?) {
    guard state.withLock({ $0 != new }) else { return }
    registrar.withMutation(of: self, keyPath: \.value) { state.withLock { $0 = new } }
  }
}

/// The one object for each key, for as long as somebody has it.
struct ObservedTable<Key: Hashable, Value: Sendable & Equatable> {
  private struct Weak {
    weak var object: Observed<Value>?
  }

  private var all: [Key: Weak] = [:]

  mutating func object(_ key: Key) -> Observed<Value> {
    if let object = all[key]?.object { return object }
    let object = Observed<Value>()
    all[key] = Weak(object: object)
    return object
  }

  /// Those that somebody still has.
  mutating func objects(_ isMeant: (Key) -> Bool = { _ in true }) -> [(key: Key, object: Observed<Value>)] {
    all = all.filter { $0.value.object != nil }
    return all.compactMap { key, weak in isMeant(key) ? weak.object.map { (key, $0) } : nil }
  }
}
