import ParleyModel
import ParleySQLite

/// A consistent snapshot of the database, for the duration of one closure.
///
/// Queries are extensions of this class, in one file per group of tables. `WriteTransaction` is a subclass, so a rule
/// reads in the transaction that it changes.
public class ReadTransaction {
  let connection: Connection
  /// Milliseconds since 1970, the same for the whole closure.
  public final let now: Int64
  /// A fault of the database. Callers get `unavailable`; the log gets this text.
  private(set) final var fault: String?
  /// The same, for an error of SQLite.
  private(set) final var cause: SQLiteError?

  init(_ connection: Connection, now: Int64) {
    self.connection = connection
    self.now = now
  }

  /// Runs statements. Their errors are faults, not refusals: the caller gets `unavailable`.
  @discardableResult
  final func run<Result>(_ body: (Connection) throws -> Result) throws(Refusal) -> Result {
    do {
      return try body(connection)
    } catch {
      guard let error = error as? SQLiteError else { throw .unavailable }
      throw failure(error)
    }
  }

  private func failure(_ error: SQLiteError) -> Refusal {
    fault = "\(error)"
    cause = error
    return error.refusal
  }

  func begin() throws(Refusal) -> Transaction {
    do {
      return try connection.begin(.deferred)
    } catch {
      throw failure(error)
    }
  }

  /// Returns the refusal for an inconsistent database. Logs `reason`.
  final func broken(_ reason: String) -> Refusal {
    fault = reason
    return .unavailable
  }
}
