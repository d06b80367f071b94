import ParleyCrypto
public import ParleyModel
import Storage

/// A picture that is made of a name.
public struct Drawing: Sendable {
  public let svg: String
  /// Another for another drawing.
  public let tag: String
}

extension CommunityView {
  /// Of somebody who has no picture of their own: the same for ever, as long as the name is. Like every picture of a person
  /// it is open to all; who waits to come in has none.
  public func drawing(of reference: AccountReference, for caller: Caller) throws(Refusal) -> Drawing {
    let person = try read { tx throws(Refusal) in
      if case .id(let id) = reference { return try tx.person(id) }
      return try tx.person(reference, for: caller).person
    }
    guard let person, person.standing?.state != .waiting else { throw .notFound }
    // Of former members, each still has a drawing of their own.
    let subject = person.account.name.map { AccountName.key($0) } ?? person.account.id.description
    do {
      let digest = try Digest.sha256(of: Array(subject.utf8))
      return Drawing(svg: Picture.blossom(digest), tag: Hex.text(Array(digest.prefix(8))))
    } catch {
      throw .unavailable
    }
  }
}
