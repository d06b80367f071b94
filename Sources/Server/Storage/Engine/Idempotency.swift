public import ParleyModel
import ParleySQLite

/// What can be made under a name that the sender gives, so that a repeated request makes no second one. The words are
/// stored.
public enum CreationKind: String, Sendable, Hashable, CaseIterable {
  case account, invite, token
  case forum, conversation, message
  case file, report, warning, removal
}

/// What a request made before.
public struct Creation: Sendable, Hashable {
  /// The id of what was made.
  public let subject: Int
  /// SHA-256 of what was sent; empty where nothing is compared.
  public let fingerprint: [UInt8]
}

extension ReadTransaction {
  /// What this author made under this name. Names are apart for each author and kind, and are kept for ever.
  public func remembered(
    _ kind: CreationKind, by author: ID<Account>, _ clientID: String
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
    _ kind: CreationKind, by author: ID<Account>, _ clientID: String, subject: Int, fingerprint: [UInt8] = []
  ) throws(Refusal) {
    let isNew = try run { connection in
      try connection.execute(
        """
        insert into idempotency (author_id, kind, client_id, subject, fingerprint)
        values ($1, $2, $3, $4, $5)
        on conflict (author_id, kind, client_id) do nothing
        """, author.number, kind.rawValue, clientID, subject, fingerprint) == 1
    }
    guard isNew else { throw .clientIDReused }
  }
}
