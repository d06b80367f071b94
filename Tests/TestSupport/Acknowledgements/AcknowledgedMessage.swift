/// The acknowledged state of a message and the pending change of its writer. No other writer changes the message, so
/// the database has the acknowledged state or the state after the pending change.
public struct AcknowledgedMessage: Sendable {
  public let clientID: String
  public let position: Position
  private var acknowledged: ExpectedMessage
  private var pending: Change?

  public struct Position: Sendable, Hashable {
    public let id: Int
    public let seq: Int

    public init(id: Int, seq: Int) {
      self.id = id
      self.seq = seq
    }
  }

  /// A message acknowledged with this id and seq.
  public init(_ clientID: String, at position: Position) {
    self.clientID = clientID
    self.position = position
    acknowledged = ExpectedMessage(text: Change.text(clientID))
  }

  public mutating func begin(_ change: Change) { pending = change }

  /// Returns an error if the answer to the pending change is wrong.
  public mutating func finish(_ answer: Change.Answer) -> String? {
    guard let change = pending else { return "\(clientID) was answered \(answer) to nothing" }
    let before = acknowledged
    let right = acknowledged.make(change)
    pending = nil
    return answer == right ? nil : "\(clientID), \(before), was answered \(answer) to \(change), and \(right) is right"
  }

  /// Returns an error if the state after a crash is wrong. Clears the pending change.
  public mutating func settle(_ found: [FoundMessage]) -> String? {
    guard let message = found.first, found.count == 1, message.position == position else {
      return "\(clientID) was acknowledged as \(position), and there is \(found.map(\.position))"
    }
    let change = pending
    pending = nil
    if message.message == acknowledged { return nil }
    var after = acknowledged
    if let change { _ = after.make(change) }
    defer { acknowledged = message.message }
    if message.message == after { return nil }
    let open = change.map { ", pending \($0)" } ?? ""
    return "\(clientID) was acknowledged as \(acknowledged)\(open), and is \(message.message)"
  }
}
