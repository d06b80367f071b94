public import ParleyModel
import ParleySQLite

/// A read-only connection for one thread. Event loops run bounded, indexed queries on it inline. Long queries belong to
/// `Store.readInBackground`.
public final class Reader {
  private let path: String
  private let vfs: String?
  private let clock: @Sendable () -> Int64
  private let log: @Sendable (String) -> Void
  private let gate: WriteGate
  private var connection: Connection?

  /// The time limit of an inline query, so that a wrong query plan cannot block a loop. Time without the processor does
  /// not count.
  private static let longest: Duration = .seconds(1)

  init(
    _ path: String, vfs: String?, clock: @escaping @Sendable () -> Int64,
    gate: WriteGate, log: @escaping @Sendable (String) -> Void
  ) {
    self.path = path
    self.vfs = vfs
    self.clock = clock
    self.gate = gate
    self.log = log
  }

  /// Runs `body` on one snapshot of the database, which has all acknowledged writes.
  public func read<Value>(
    within time: Duration? = nil, _ body: (ReadTransaction) throws(Refusal) -> Value
  ) throws(Refusal) -> Value {
    let connection: Connection
    do { connection = try open() } catch {
      log("The database can't be read: \(error)")
      throw gate.close(after: error)
    }
    // On a background thread only queued requests wait.
    let patience = time == nil ? 20 : 2
    return try connection.limited(to: time ?? Self.longest, patience: patience) { () throws(Refusal) in
      let snapshot = ReadTransaction(connection, now: clock())
      defer {
        if let fault = snapshot.fault { log("A query failed: \(fault)") }
        if let cause = snapshot.cause { gate.close(after: cause) }
      }
      // A read transaction: commit and rollback at the end of the scope are the same.
      let transaction = try snapshot.begin()
      let value = try body(snapshot)
      transaction.rollBack()
      return value
    }
  }

  private func open() throws(SQLiteError) -> Connection {
    if let connection { return connection }
    var options = Connection.Options()
    options.vfs = vfs
    options.cacheKibibytes = 8_192
    let made = try Connection.reader(path, options)
    connection = made
    return made
  }

  /// Closes the connection. Only the owner calls it.
  func close() {
    connection?.close()
    connection = nil
  }
}
