// Finding messages again: in what the caller may read now, and nowhere else.

public import ParleyModel
import Storage

/// What somebody looks for. All of it has to fit.
public struct SearchRequest: Sendable {
  public var words: String?
  public var conversation: ID<Conversation>?
  public var forum: ID<Forum>?
  public var author: AccountReference?
  public var mention: AccountReference?
  public var hashtag: String?
  public var annotation: String?
  public var action: ActionType?
  /// The name of a place.
  public var placeName: String?
  public var circle: GeoCircle?
  public var has: Set<Kind> = []
  public var before: ID<Message>?
  public var after: ID<Message>?
  public var beforeTime: Int64?
  public var afterTime: Int64?
  public var order = SearchOrder.newest
  public var limit = 50
  /// Where the last page ended.
  public var next: Place?
  public var show = MessageShow()

  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case file, image, link
  }

  /// Pages go down from the newest, or up from an anchor.
  public enum Place: Sendable, Hashable {
    case before(ID<Message>)
    case after(ID<Message>)
  }

  public init() {}

  /// Whether it says what to look for, and not only where.
  private var isEmpty: Bool {
    words == nil && author == nil && mention == nil && hashtag == nil && annotation == nil && action == nil
      && placeName == nil && circle == nil && has.isEmpty
  }
}

extension Community {
  /// Messages that the caller may read, newest or best first, and where the next page begins.
  public func search(
    _ request: SearchRequest, for caller: Caller
  ) async throws(Refusal) -> (hits: [SearchHit], next: SearchRequest.Place?) {
    let (words, search) = try request.search()
    let found = try await store.readInBackground { [bounds] tx throws(Refusal) in
      // It may have waited; who was put out meanwhile finds nothing.
      let caller = try tx.renewed(caller)
      var search = search
      search.places = try tx.searchPlaces(of: caller, conversation: request.conversation, forum: request.forum)
      search.viewer = caller.account
      // Whoever is asked for by name is shown.
      search.hidesMuted = request.author == nil
      if let author = request.author { search.features.insert(.author(try tx.account(author, for: caller, "author"))) }
      if let mention = request.mention {
        search.features.insert(.mention(try tx.account(mention, for: caller, "mention")))
      }
      let ids = try tx.search(search)
      let page = search.isUpward ? ids.suffix(request.limit) : ids.prefix(request.limit)
      let seen = try tx.seen(try tx.messages(Array(page)), by: caller, bounds)
      let hits = try seen.map { message throws(Refusal) in
        SearchHit(
          message, SearchSnippet(of: try tx.searchableText(of: message.message.id), for: words ?? search.placeName))
      }
      var next: SearchRequest.Place?
      if ids.count > request.limit, search.order == .newest {
        next = search.isUpward ? page.first.map { .after($0) } : page.last.map { .before($0) }
      }
      return (hits, next)
    }
    let shown = await found.0.map(\.message).shown(request.show)
    return (zip(shown, found.0).map { SearchHit($0, $1.snippet) }, found.1)
  }
}

extension SearchRequest {
  /// Without what only the store knows.
  fileprivate func search() throws(Refusal) -> (words: SearchQuery?, search: MessageSearch) {
    guard !isEmpty else { throw .invalid("q", .missing) }
    let query = try words.map { text throws(Refusal) in try Self.query(text, "q") }
    var search = MessageSearch(query, in: [SearchPlace]())
    search.placeName = try placeName.map { text throws(Refusal) in try Self.query(text, "location") }
    search.circle = circle
    search.action = action
    if let hashtag {
      let tag = hashtag.hasPrefix("#") ? String(hashtag.dropFirst()) : hashtag
      guard !tag.isEmpty else { throw .invalid("hashtag", .tooShort(least: 1)) }
      search.features.insert(.hashtag(tag.lowercased()))
    }
    if let annotation {
      guard TypeName.isWellFormed(annotation) else { throw .invalid("annotation", .invalid) }
      search.features.insert(.annotation(annotation))
    }
    for kind in has {
      switch kind {
      case .file: search.features.insert(.file)
      case .image: search.features.insert(.image)
      case .link: search.features.insert(.link)
      }
    }
    search.order = order
    guard order == .newest || query != nil else { throw .invalid("order", .mismatch) }
    guard order == .newest || next == nil else { throw .invalid("next", .mismatch) }
    (search.before, search.after) = (before, after)
    switch next {
    case nil: break
    case .before(let id): search.before = min(id, before ?? id)
    case .after(let id):
      guard before == nil else { throw .invalid("next", .mismatch) }
      search.after = max(id, after ?? id)
    }
    (search.beforeTime, search.afterTime) = (beforeTime, afterTime)
    search.limit = limit + 1
    return (query, search)
  }

  private static func query(_ text: String, _ field: String) throws(Refusal) -> SearchQuery {
    do throws(SearchQuery.Fault) {
      return try SearchQuery(text)
    } catch {
      switch error {
      case .empty: throw .invalid(field, .tooShort(least: 1))
      case .onlyExclusions: throw .invalid(field, .invalid)
      case .tooLong(let limit): throw .invalid(field, .tooLong(limit: limit))
      case .tooManyTerms(let limit), .tooManyBeginnings(let limit): throw .invalid(field, .tooMany(limit: limit))
      }
    }
  }
}

extension ReadTransaction {
  /// Everything that the caller may read, or of it one forum or one conversation.
  func searchPlaces(
    of caller: Caller, conversation: ID<Conversation>?, forum: ID<Forum>?
  ) throws(Refusal) -> [SearchPlace] {
    if let conversation {
      let (_, standing) = try rights(of: caller, in: conversation)
      if let forum, try self.forum(of: conversation) != forum { throw .invalid("conversation", .mismatch) }
      return [try place(conversation, fromSeq: Permissions.fromSeq(of: caller.role, in: standing))]
    }
    var places: [SearchPlace] = []
    if let forum { try require(.read, caller, in: forum) }
    let seeing = Permissions.readable(to: caller.role)
    for (id, standing) in try forumStandings(of: caller.account, seeing: seeing) where forum == nil || forum == id {
      guard Permissions.rights(of: caller.role, in: standing).contains(.read) else { continue }
      places.append(SearchPlace(.forum(id), after: ID(Permissions.fromSeq(of: caller.role, in: standing))))
    }
    guard forum == nil else { return places }
    let open = Audience.allCases.filter { audience in
      Permissions.rights(of: caller.role, in: Standing(kind: .channel, readers: audience)).contains(.read)
    }
    for (id, standing) in try conversationStandings(of: caller.account, openTo: open) {
      guard Permissions.rights(of: caller.role, in: standing).contains(.read) else { continue }
      places.append(try place(id, fromSeq: Permissions.fromSeq(of: caller.role, in: standing)))
    }
    return places
  }

  private func place(_ conversation: ID<Conversation>, fromSeq: Int) throws(Refusal) -> SearchPlace {
    SearchPlace(.conversation(conversation), after: try lastMessage(before: fromSeq, in: conversation))
  }

  /// Somebody whom a filter names.
  fileprivate func account(
    _ reference: AccountReference, for caller: Caller, _ field: String
  ) throws(Refusal) -> ID<Account> {
    do throws(Refusal) {
      return try account(reference, for: caller)
    } catch {
      throw error == .notFound ? .invalid(field, .unknown) : error
    }
  }
}
