public import ParleyModel
import Storage

extension CommunityView {
  /// A checkpoint of the present history of a conversation that the caller may read. Messages without an entry are not covered.
  public func getCheckpoint(of conversation: ID<Conversation>, for caller: Caller) throws(Refusal) -> Checkpoint {
    let (state, now) = try read { tx throws(Refusal) in
      _ = try tx.rights(of: caller, in: conversation)
      return (try tx.chainState(of: conversation), tx.now)
    }
    let signed = try? Checkpoint.signed([state], at: now, by: community.store.siteKey).first
    guard let signed else { throw .unavailable }
    return signed
  }
}
