import ParleyMarkup
import ParleyModel
import Storage

extension ReadTransaction {
  /// Adds the entities of the bio. Mentions are resolved at read time.
  func withEntities(_ user: User) throws(Refusal) -> User {
    var entities = MessageEntities()
    var users: [String: ID<User>?] = [:]
    for entity in MarkupDocument(user.summary.bio).entities {
      let span = MessageEntities.Span(position: entity.position, length: entity.length)
      switch entity.kind {
      case .hashtag: entities.hashtags.append(.init(span, name: entity.value))
      case .link: entities.links.append(.init(span, url: entity.value))
      case .mention:
        let key = UserName.key(entity.value)
        let user: ID<User>?
        if let known = users[key] { user = known } else { user = try self.user(named: key) }
        users[key] = .some(user)
        if let user { entities.mentions.append(.init(span, name: entity.value, user: user)) }
      }
    }
    var user = user
    user.summary.describeBio(entities)
    return user
  }
}
