/// What one writer was told of a message, and what it has asked since. Nobody else changes the message, so it stands as it
/// was told, or as it does once what was asked is done.
public struct Promise: Sendable {
  public let clientID: String
  public let place: Place
  private var told: ToldMessage
  private var asked: Change?

  public struct Place: Sendable, Hashable {
    public let id: Int
    public let seq: Int

    public init(id: Int, seq: Int) {
      self.id = id
      self.seq = seq
    }
  }

  /// Of a message that was acknowledged there.
  public init(_ clientID: String, at place: Place) {
    self.clientID = clientID
    self.place = place
    told = ToldMessage(text: Change.text(clientID))
  }

  public mutating func ask(_ change: Change) { asked = change }

  /// What is wrong with the answer to what was asked.
  public mutating func take(_ answer: Change.Answer) -> String? {
    guard let change = asked else { return "\(clientID) was answered \(answer) to nothing" }
    let before = told
    let right = told.make(change)
    asked = nil
    return answer == right ? nil : "\(clientID), \(before), was answered \(answer) to \(change), and \(right) is right"
  }

  /// What is wrong with what is there after a crash. What was asked is settled by it.
  public mutating func settle(_ found: [FoundMessage]) -> String? {
    guard let message = found.first, found.count == 1, message.place == place else {
      return "\(clientID) was acknowledged as \(place), and there is \(found.map(\.place))"
    }
    let change = asked
    asked = nil
    if message.message == told { return nil }
    var after = told
    if let change { _ = after.make(change) }
    defer { told = message.message }
    if message.message == after { return nil }
    let open = change.map { ", asked to \($0)" } ?? ""
    return "\(clientID) was told to stand at \(told)\(open), and stands at \(message.message)"
  }
}
