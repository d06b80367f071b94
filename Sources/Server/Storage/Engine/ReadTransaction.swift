import ParleyModel
import ParleySQLite

/// One picture of the whole database: whatever is written meanwhile, all that is asked of it belongs together. It lives
/// for one closure and never leaves it.
///
/// What can be asked stands in extensions of this class, one file per family of tables. A `WriteTransaction` is one too,
/// so a rule asks in the transaction that changes.
public class ReadTransaction {
  let connection: Connection
  /// Milliseconds since 1970, the same for the whole closure.
  public final let now: Int64
  /// Broken machinery. It was told as `unavailable`; the log gets this.
  private(set) final var fault: String?

  init(_ connection: Connection, now: Int64) {
    self.connection = connection
    self.now = now
  }

  /// Runs statements. What goes wrong in them is no refusal of the domain: the caller gets `unavailable`.
  @discardableResult
  final func run<Result>(_ body: (Connection) throws -> Result) throws(Refusal) -> Result {
    do {
      return try body(connection)
    } catch {
      if let error = error as? SQLiteError { fault = "\(error)" }
      throw .unavailable
    }
  }

  func begin() throws(Refusal) -> Transaction {
    do {
      return try connection.begin(.deferred)
    } catch {
      throw broken("\(error)")
    }
  }

  /// What to throw when something is not as it can be: `reason` is for the log.
  final func broken(_ reason: String) -> Refusal {
    fault = reason
    return .unavailable
  }
}
