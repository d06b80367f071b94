import ParleyModel
import Storage

/// The expected state of a message: a model of the store's operations without a store.
public struct ExpectedMessage: Sendable, Hashable {
  public private(set) var revision = 1
  public private(set) var deletion: Deletion?
  /// The sealed text if the message is a tombstone.
  private(set) var text: String?
  /// Previous texts by revision; the sealed ones if the message is a tombstone.
  var earlier: [Int: String] = [:]

  /// A new message.
  public init(text: String) { self.text = text }

  init(revision: Int, deletion: Deletion?, text: String?) {
    self.revision = revision
    self.deletion = deletion
    self.text = text
  }

  /// Applies the change and returns the expected answer of the store.
  public mutating func make(_ change: Change) -> Change.Answer {
    switch change {
    case .edit(let name): edit(to: Change.text(name))
    case .deleteRevision(let revision): deleteRevision(revision)
    case .delete: delete()
    case .remove: remove()
    case .restore: restore()
    }
  }

  private mutating func edit(to other: String) -> Change.Answer {
    guard deletion == nil, let text else { return .refused("gone") }
    guard other != text else { return .revision(revision) }
    earlier[revision] = text
    self.text = other
    return next()
  }

  private mutating func deleteRevision(_ number: Int) -> Change.Answer {
    guard deletion == nil else { return .refused("gone") }
    guard (1..<revision).contains(number) else { return .refused("not_found") }
    guard earlier.removeValue(forKey: number) != nil else { return .revision(revision) }
    return next()
  }

  private mutating func delete() -> Change.Answer {
    text = nil
    earlier = [:]
    guard deletion == nil else { return .revision(revision) }
    deletion = .author
    return next()
  }

  private mutating func remove() -> Change.Answer {
    guard deletion == nil else { return .revision(revision) }
    deletion = .moderator
    return next()
  }

  private mutating func restore() -> Change.Answer {
    guard deletion != nil else { return .revision(revision) }
    guard text != nil else { return .refused("gone") }
    deletion = nil
    return next()
  }

  private mutating func next() -> Change.Answer {
    revision += 1
    return .revision(revision)
  }
}

extension ExpectedMessage: CustomStringConvertible {
  public var description: String {
    let texts = [text.map { "\"\($0.prefix(40))\"" } ?? "nothing"] + earlier.keys.sorted().map { "revision \($0)" }
    return "revision \(revision), \(deletion?.rawValue ?? "live"), with \(texts.joined(separator: ", "))"
  }
}
