public import Observation
import Synchronization

/// The observable current value of an entity, such as a user. An app gets one object per entity.
///
/// Views that read `value` update automatically. Elsewhere, iterate `Observations({ object.value })`. Changes are
/// made on the cache's thread.
public final class Observed<Value: Sendable & Equatable>: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let state = Mutex<Value?>(nil)

  init() {}

  /// Nil if the entity is not in the cache, either not yet or no longer.
  public var value: Value? {
    registrar.access(self, keyPath: \.value)
    return state.withLock { $0 }
  }

  func set(_ new: Value?) {
    let isChange = state.withLock { value in
      defer { value = new }
      return value != new
    }
    // Observers on other threads read the value as soon as they are notified, so it is set before.
    if isChange { registrar.withMutation(of: self, keyPath: \.value) {} }
  }
}

/// The object of each key. References are weak.
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

  /// The objects that are still referenced.
  mutating func objects(_ isMeant: (Key) -> Bool = { _ in true }) -> [(key: Key, object: Observed<Value>)] {
    all = all.filter { $0.value.object != nil }
    return all.compactMap { key, weak in isMeant(key) ? weak.object.map { (key, $0) } : nil }
  }
}
