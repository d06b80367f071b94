import ParleyMarkup
import ParleyModel
import Storage

extension ReadTransaction {
  func withEntities(_ user: User) throws(Refusal) -> User { try withEntities([user])[0] }

  /// Adds the entities of the bios. Mentions are resolved at read time, those of all bios in one statement.
  func withEntities(_ users: [User]) throws(Refusal) -> [User] {
    let bios = users.map { MarkupDocument($0.summary.bio).entities }
    let names = bios.joined().filter { $0.kind == .mention }.map(\.value)
    let mentioned = names.isEmpty ? [:] : try self.users(named: names)
    return zip(users, bios).map { user, bio in
      var entities = MessageEntities()
      for entity in bio {
        let span = MessageEntities.Span(position: entity.position, length: entity.length)
        switch entity.kind {
        case .hashtag: entities.hashtags.append(.init(span, name: entity.value))
        case .link: entities.links.append(.init(span, url: entity.value))
        case .mention:
          guard let id = mentioned[UserName.key(entity.value)] else { continue }
          entities.mentions.append(.init(span, name: entity.value, user: id))
        }
      }
      var user = user
      user.summary.describeBio(entities)
      return user
    }
  }
}
