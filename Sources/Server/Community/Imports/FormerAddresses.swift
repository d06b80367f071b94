// Addresses of an imported Discourse site: `/t/slug/17/3`, `/c/slug/4`, `/u/ada`. They lead to rows of this site; the page of a row checks
// the access.

import Imports
public import ParleyModel
import Storage

extension CommunityView {
  /// The topic or the message of a post; nil if the imported site has none with this number.
  public func formerTopic(_ topic: Int, post: Int?) throws(Refusal) -> (topic: ID<Conversation>, message: ID<Message>?)?
  {
    try read { tx throws(Refusal) in
      let source = SourceKind.discourse.rawValue
      guard let id = try tx.imported(.conversation, "\(topic)", from: source) else { return nil }
      let message = try post.flatMap { post throws(Refusal) in
        try tx.imported(.message, "\(topic):\(post)", from: source)
      }
      return (ID(id), message.map { ID($0) })
    }
  }

  /// The forum of a category.
  public func formerCategory(_ category: Int) throws(Refusal) -> ID<Forum>? {
    try read { tx throws(Refusal) in
      try tx.imported(.address, "c/\(category)", from: SourceKind.discourse.rawValue).map { ID($0) }
    }
  }

  /// The present name of a user, if no user of this site has the former one.
  public func formerUser(_ name: String) throws(Refusal) -> String? {
    try read { tx throws(Refusal) in
      guard try tx.user(named: name) == nil,
        let id = try tx.imported(.address, "u/\(UserName.key(name))", from: SourceKind.discourse.rawValue)
      else { return nil }
      return try tx.user(ID(id))?.summary.name
    }
  }
}
