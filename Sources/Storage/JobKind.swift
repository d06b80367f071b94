public import JSON
public import Model

/// One kind of large work, such as erasing a person: a name that is stored, and what one chunk does.
///
///     let erasure = JobKind("erase") { (tx, state: inout Erasure) throws(Refusal) in … }
///
/// A chunk is a closure of the writer like any other, with its limits. It changes the state to say how far it has come,
/// and returns whether the job is finished; both are durable together with what it changed, so each chunk happens exactly
/// once. When it throws `unavailable` it is tried again, later; any other refusal ends the job, with its code as the error.
public struct JobKind: Sendable {
  public let name: String
  let chunk: @Sendable (WriteTransaction, _ state: String) throws(Refusal) -> (state: String, isFinished: Bool)

  public init<State: JSONReadable & JSONWritable & Sendable>(
    _ name: String, chunk: @escaping @Sendable (WriteTransaction, inout State) throws(Refusal) -> Bool
  ) {
    self.name = name
    self.chunk = { tx, text throws(Refusal) in
      var state: State
      do throws(JSONError) {
        state = try State(json: JSONValue(parsing: Array(text.utf8)))
      } catch {
        throw tx.broken("the state of a job \"\(name)\" can't be read: \(error)")
      }
      let isFinished = try chunk(tx, &state)
      return (state.jsonText, isFinished)
    }
  }
}

extension JSONWritable {
  var jsonText: String {
    var json = JSONWriter()
    json.value(self)
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
