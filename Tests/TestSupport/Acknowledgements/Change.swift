import ParleyModel
import Storage

/// A change of an acknowledged message. Its description is the words of a log line.
public enum Change: Sendable, Hashable {
  /// Changes the text to that of this name.
  case edit(String)
  case deleteRevision(Int)
  case delete
  case remove
  case restore

  public enum Answer: Sendable, Hashable {
    case revision(Int)
    /// The refusal code.
    case refused(String)
  }

  /// A random change with a unique name.
  public init(named name: String, using random: inout some RandomNumberGenerator) {
    self =
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<5: .edit(name)
      case 5..<7: .deleteRevision(Int.random(in: 1...4, using: &random))
      case 7..<9: .remove
      case 9..<11: .restore
      default: .delete
      }
  }

  /// Every other text is long, so that it fills overflow pages and the write-ahead log.
  public static func text(_ name: String) -> String {
    let number = name.split(separator: ".").last.flatMap { Int($0) } ?? 0
    return "seeds and weeds \(name)" + String(repeating: " rose", count: number % 2 * 1_600)
  }

  /// Applies the change and returns the new revision.
  public func make(_ id: ID<Message>, in tx: WriteTransaction) throws(Refusal) -> Int {
    let (author, moderator) = (ID<User>(1), ID<User>(2))
    return switch self {
    case .edit(let name): try tx.edit(id, to: MessageText(Self.text(name)), by: author)
    case .deleteRevision(let revision): try tx.deleteRevision(revision, of: id, by: author)
    case .delete: try tx.delete(id, by: author)
    case .remove: try tx.remove(id, by: moderator, reason: "weeds")
    case .restore: try tx.restore(id, by: moderator)
    }
  }
}

extension Change: CustomStringConvertible {
  public var description: String {
    switch self {
    case .edit(let name): "edit \(name)"
    case .deleteRevision(let revision): "deleteRevision \(revision)"
    case .delete: "delete"
    case .remove: "remove"
    case .restore: "restore"
    }
  }

  public init?(_ words: some Collection<String>) {
    switch (words.first, words.dropFirst().first) {
    case ("edit", let name?): self = .edit(name)
    case ("deleteRevision", let text?):
      guard let revision = Int(text) else { return nil }
      self = .deleteRevision(revision)
    case ("delete", nil): self = .delete
    case ("remove", nil): self = .remove
    case ("restore", nil): self = .restore
    default: return nil
    }
  }
}
