import Community
import ParleyModel

/// The ids of the users, files, posts and conversations that the objects of a response reference.
struct References {
  var users: Set<ID<User>> = []
  var files: Set<ID<File>> = []
  var messages: Set<ID<Message>> = []
  var conversations: Set<ID<Conversation>> = []
}

protocol Referencing {
  func addReferences(to references: inout References)
}

// Things whose own file has no other part in `include`.

extension Conversation: Referencing {
  func addReferences(to references: inout References) {
    references.users.insert(createdBy)
    if let owner { references.users.insert(owner) }
    references.users.formUnion(participants?.map(\.user) ?? [])
  }
}

extension ConversationView: Referencing {
  func addReferences(to references: inout References) {
    switch self {
    case .forVisitor(let conversation): conversation.addReferences(to: &references)
    case .forUser(let own): own.addReferences(to: &references)
    }
  }
}

extension Participant: Referencing {
  func addReferences(to references: inout References) { references.users.insert(user) }
}

extension MessageRevision: Referencing {
  func addReferences(to references: inout References) {
    references.users.insert(edit.by)
    if let entities { references.users.formUnion(Message.mentioned(in: entities)) }
  }
}

extension MessageReceipt: Referencing {
  func addReferences(to references: inout References) { references.users.insert(user) }
}

extension MessageAction: Referencing {
  func addReferences(to references: inout References) { references.users.insert(user) }
}

extension Vote: Referencing {
  func addReferences(to references: inout References) { references.users.insert(user) }
}

extension File: Referencing {
  func addReferences(to references: inout References) { references.users.insert(owner) }
}

extension Sanction: Referencing {
  func addReferences(to references: inout References) { references.users.formUnion([user, createdBy]) }
}

extension Removal: Referencing {
  func addReferences(to references: inout References) {
    references.users.insert(createdBy)
    if let author { references.users.insert(author) }
  }
}

extension AuditEntry: Referencing {
  func addReferences(to references: inout References) { references.users.insert(actor) }
}

extension ModerationRule: Referencing {
  func addReferences(to references: inout References) { references.users.insert(createdBy) }
}

extension Invite: Referencing {
  func addReferences(to references: inout References) {
    references.users.formUnion([createdBy] + (usedBy ?? []))
    if let claims { references.users.insert(claims) }
  }
}

extension StoredBackup: Referencing {
  func addReferences(to references: inout References) {
    if let createdBy { references.users.insert(createdBy) }
  }
}
