public import JSON

/// How far those in a small conversation have come who show it: what its messages' receipts and statuses follow from, so
/// that there is no row for each message and person.
public struct Receipts: Sendable, Hashable {
  public struct Reader: Sendable, Hashable {
    public var account: ID<Account>
    public var mark: Mark
    /// The conversation's last message when they joined: only what came later is counted of them.
    public var joinedSeq: Int

    public init(_ account: ID<Account>, _ mark: Mark, joinedSeq: Int) {
      self.account = account
      self.mark = mark
      self.joinedSeq = joinedSeq
    }
  }

  public var readers: [Reader]

  public init(_ readers: [Reader]) { self.readers = readers }

  /// Of the others who were there when it was sent, and have got it at least.
  public func of(_ message: Message) -> [Receipt] {
    others(than: message).compactMap { reader in
      guard reader.mark.deliveredSeq >= message.seq else { return nil }
      return Receipt(reader.account, reader.mark.readSeq >= message.seq ? .read : .delivered)
    }
  }

  public func status(of message: Message) -> MessageStatus {
    let others = others(than: message)
    let count = others.count { $0.mark.readSeq >= message.seq }
    if count == 0 { return .delivered }
    return count == others.count ? .allRead : .someRead
  }

  private func others(than message: Message) -> [Reader] {
    readers.filter { $0.account != message.author && $0.joinedSeq < message.seq }
  }
}

/// How far a message has come with one person.
public struct Receipt: Sendable, Hashable {
  public var account: ID<Account>
  public var mark: Mark.Kind

  public init(_ account: ID<Account>, _ mark: Mark.Kind) {
    self.account = account
    self.mark = mark
  }
}

extension Receipt: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("user_id", account)
      json.field("mark", mark.rawValue)
    }
  }
}

/// How far a message has come. `delivered` says that the server has stored it.
public enum MessageStatus: String, Sendable, Hashable, CaseIterable {
  case delivered
  case someRead = "some_read"
  case allRead = "all_read"
}
