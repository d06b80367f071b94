import Synchronization

/// Collects all errors of a text. A reader reports the first error by throwing it; a document with this collector records
/// it instead and gives the reader a *wildcard*, a value that every reader accepts. So the reader goes on to the next
/// member. Its result has no meaning.
///
///     let faults = JSONFaults()
///     _ = try? Draft(json: JSONValue(parsing: body, collecting: faults))
///     for error in faults.errors { … }
public final class JSONFaults: Sendable {
  private let list = Mutex<[JSONFieldError]>([])

  /// A collector without errors, for one text.
  public init() {}

  /// The recorded errors, one per field, in the order of reading.
  public var errors: [JSONFieldError] { list.withLock { $0 } }

  /// Records errors of fields without one. Errors beyond the limit are dropped.
  public func record(_ errors: [JSONFieldError]) {
    list.withLock { list in
      for error in errors where list.count < JSONLimits.faults && !list.contains(where: { $0.field == error.field }) {
        list.append(error)
      }
    }
  }
}

extension JSONDocument {
  /// The value that stands in for a missing or invalid one.
  var wildcard: JSONValue { JSONValue(self, index: nodes.count - 1) }
}
