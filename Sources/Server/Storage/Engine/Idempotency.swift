import ParleyCrypto
public import ParleyModel
import ParleySQLite

/// Kinds of rows that are created under a `client_id`, so that a repeated request creates no second one. The raw values
/// are stored.
public enum CreationKind: String, Sendable, Hashable, CaseIterable {
  case user, invite, token, bot, webhook
  case webhookEndpoint = "webhook_endpoint"
  case forum, conversation, message
  case file, report, warning, removal, rule, emoji
  case heldPost = "held_post"
  case userGroup = "user_group"
  case buttonPress = "button_press"
  case command, app
  case commandInvocation = "command_invocation"
}

/// The result of an earlier request.
public struct Creation: Sendable, Hashable {
  /// The id of the created row.
  public let subject: Int
  /// SHA-256 of the request; empty if requests are not compared.
  public let fingerprint: [UInt8]

  /// The digest by which a repeated request is compared with the first. Each part is prefixed with its length, so that
  /// different requests never have the same bytes.
  public static func fingerprint(of parts: [String]) throws(Refusal) -> [UInt8] {
    let bytes = parts.flatMap { Array("\($0.utf8.count):\($0)".utf8) }
    do { return try Digest.sha256(of: bytes) } catch { throw .unavailable }
  }
}

extension ReadTransaction {
  /// Returns the row that this author created under this `client_id`. Keys are per author and kind and never expire.
  public func remembered(
    _ kind: CreationKind, by author: ID<User>, _ clientID: String
  ) throws(Refusal) -> Creation? {
    try run { connection in
      try connection.first(
        """
        select subject, fingerprint
        from idempotency
        where author_id = $1 and kind = $2 and client_id = $3
        """, author.number, kind.rawValue, clientID
      ) { row in Creation(subject: try row.int(0), fingerprint: try row.bytes(1)) }
    }
  }
}

extension WriteTransaction {
  /// In the transaction that makes it. Another thing under the same name is refused as `clientIDReused`.
  public func remember(
    _ kind: CreationKind, by author: ID<User>, _ clientID: String, subject: Int, fingerprint: [UInt8] = []
  ) throws(Refusal) {
    guard try isFirst(kind, by: author, clientID, subject: subject, fingerprint: fingerprint) else {
      throw .clientIDReused
    }
  }

  /// Removes the `client_id` of a row that is gone, so that it can be made again.
  public func forget(_ kind: CreationKind, by author: ID<User>, _ clientID: String) throws(Refusal) {
    try run { connection in
      try connection.execute(
        """
        delete from idempotency
        where author_id = $1 and kind = $2 and client_id = $3
        """, author.number, kind.rawValue, clientID)
    }
  }

  /// Stores the `client_id` of a new row. Returns false, and changes nothing, if an earlier request used it.
  func isFirst(
    _ kind: CreationKind, by author: ID<User>, _ clientID: String, subject: Int, fingerprint: [UInt8]
  ) throws(Refusal) -> Bool {
    try run { connection in
      try connection.execute(
        """
        insert into idempotency (author_id, kind, client_id, subject, fingerprint)
        values ($1, $2, $3, $4, $5)
        on conflict (author_id, kind, client_id) do nothing
        """, author.number, kind.rawValue, clientID, subject, fingerprint) == 1
    }
  }
}
