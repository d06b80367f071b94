public import ParleyJSON
public import ParleyModel

/// A kind of job, such as erasing a user: its stored name, and the closure of one chunk.
///
///     let erasure = JobKind("erase") { (tx, state: inout Erasure) throws(Refusal) in … }
///
/// A chunk is a closure of the writer, with its limits. It updates the state and returns whether the job is finished;
/// both are committed together with its changes, so each chunk runs exactly once. After `unavailable` it is retried
/// later; any other refusal ends the job, with its code as the error.
public struct JobKind: Sendable {
  public let name: String
  let chunk: @Sendable (WriteTransaction, _ state: String) throws(Refusal) -> (state: String, isFinished: Bool)
  private let progress: @Sendable (ReadTransaction, _ state: String) throws(Refusal) -> Double

  /// - Parameter progress: how much of it is done, from 0 to 1. It may count, so it is asked in the background.
  public init<State: JSONReadable & JSONWritable & Sendable>(
    _ name: String,
    progress: @escaping @Sendable (ReadTransaction, State) throws(Refusal) -> Double = { _, _ throws(Refusal) in 0 },
    chunk: @escaping @Sendable (WriteTransaction, inout State) throws(Refusal) -> Bool
  ) {
    @Sendable func read(_ text: String, _ tx: ReadTransaction) throws(Refusal) -> State {
      do throws(JSONError) {
        return try State(json: JSONValue(parsing: Array(text.utf8)))
      } catch {
        throw tx.broken("the state of a job \"\(name)\" can't be read: \(error)")
      }
    }
    self.name = name
    self.progress = { tx, text throws(Refusal) in try progress(tx, read(text, tx)) }
    self.chunk = { tx, text throws(Refusal) in
      var state = try read(text, tx)
      let isFinished = try chunk(tx, &state)
      return (state.jsonText, isFinished)
    }
  }

  /// The finished share of a job of this kind, from 0 to 1.
  public func progress(of job: StoredJob, _ tx: ReadTransaction) throws(Refusal) -> Double {
    min(max(try progress(tx, job.state), 0), 1)
  }
}

extension JSONWritable {
  var jsonText: String {
    var json = JSONWriter()
    json.value(self)
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
