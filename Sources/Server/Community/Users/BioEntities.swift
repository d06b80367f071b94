import ParleyMarkup
import ParleyModel
import Storage

extension ReadTransaction {
  /// With what its bio names. Who is meant is looked up now, so a mention leads to who has the name.
  func withEntities(_ person: Person) throws(Refusal) -> Person {
    var entities = MessageEntities()
    var people: [String: ID<Account>?] = [:]
    for entity in MarkupDocument(person.account.bio).entities {
      let span = MessageEntities.Span(position: entity.position, length: entity.length)
      switch entity.kind {
      case .hashtag: entities.hashtags.append(.init(span, name: entity.value))
      case .link: entities.links.append(.init(span, url: entity.value))
      case .mention:
        let key = AccountName.key(entity.value)
        let user: ID<Account>?
        if let known = people[key] { user = known } else { user = try account(named: key) }
        people[key] = .some(user)
        if let user { entities.mentions.append(.init(span, name: entity.value, user: user)) }
      }
    }
    var person = person
    person.account.describeBio(entities)
    return person
  }
}
