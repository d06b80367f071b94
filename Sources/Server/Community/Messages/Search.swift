// Search in the messages that the caller may read.

public import ParleyModel
import Storage

/// The filters of a search. All of them must match.
public struct SearchRequest: Sendable {
  public var words: String?
  public var conversation: ID<Conversation>?
  public var forum: ID<Forum>?
  public var author: UserReference?
  public var mention: UserReference?
  public var hashtag: String?
  public var annotation: String?
  public var action: ActionType?
  /// The name of a location.
  public var locationName: String?
  public var circle: GeoCircle?
  public var has: Set<Kind> = []
  public var before: ID<Message>?
  public var after: ID<Message>?
  public var beforeTime: Int64?
  public var afterTime: Int64?
  public var order = SearchOrder.newest
  public var limit = 50
  /// The position after the last page.
  public var next: Cursor?
  public var show = MessageOptions()

  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case file, image, link
  }

  /// Pages run down from the newest message, or up from an anchor.
  public enum Cursor: Sendable, Hashable {
    case before(ID<Message>)
    case after(ID<Message>)
  }

  public init() {}

  /// Whether the request has no filter other than the scope.
  private var isEmpty: Bool {
    words == nil && author == nil && mention == nil && hashtag == nil && annotation == nil && action == nil
      && locationName == nil && circle == nil && has.isEmpty
  }
}

extension Community {
  /// The messages that the caller may read, newest or best match first, and the position of the next page.
  public func searchMessages(
    _ request: SearchRequest, for caller: Caller
  ) async throws(Refusal) -> (hits: [SearchHit], next: SearchRequest.Cursor?) {
    let (words, search) = try request.search()
    let found = try await store.readInBackground { [bounds] tx throws(Refusal) in
      // Reload the caller: it may have been banned while the search was queued.
      let caller = try tx.reloadCaller(caller)
      var search = search
      search.ranges = try tx.searchRanges(of: caller, conversation: request.conversation, forum: request.forum)
      search.viewer = caller.user
      // An author filter includes a muted author.
      search.hidesMuted = request.author == nil
      if let author = request.author { search.features.insert(.author(try tx.userID(author, for: caller, "author"))) }
      if let mention = request.mention {
        search.features.insert(.mention(try tx.userID(mention, for: caller, "mention")))
      }
      let ids = try tx.search(search)
      let page = search.isAscending ? ids.suffix(request.limit) : ids.prefix(request.limit)
      let seen = try tx.views(try tx.messages(Array(page)), by: caller, bounds)
      let hits = try seen.map { message throws(Refusal) in
        SearchHit(
          message, SearchSnippet(of: try tx.searchableText(of: message.message.id), for: words ?? search.locationName))
      }
      var next: SearchRequest.Cursor?
      if ids.count > request.limit, search.order == .newest {
        next = search.isAscending ? page.first.map { .after($0) } : page.last.map { .before($0) }
      }
      return (hits, next)
    }
    let shown = await found.0.map(\.message).applying(request.show)
    return (zip(shown, found.0).map { SearchHit($0, $1.snippet) }, found.1)
  }
}

extension SearchRequest {
  /// The part of the search that needs no database access.
  fileprivate func search() throws(Refusal) -> (words: SearchQuery?, search: MessageSearch) {
    guard !isEmpty else { throw .invalid("q", .missing) }
    let query = try words.map { text throws(Refusal) in try Self.query(text, "q") }
    var search = MessageSearch(query, in: [SearchRange]())
    search.locationName = try locationName.map { text throws(Refusal) in try Self.query(text, "location") }
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
  /// The conversations that the caller may read: all, or those of one forum, or one.
  func searchRanges(
    of caller: Caller, conversation: ID<Conversation>?, forum: ID<Forum>?
  ) throws(Refusal) -> [SearchRange] {
    if let conversation {
      let (_, standing) = try rights(of: caller, in: conversation)
      if let forum, try self.forum(of: conversation) != forum { throw .invalid("conversation", .mismatch) }
      return [try searchScope(conversation, fromSeq: Permissions.fromSeq(of: caller.role, in: standing))]
    }
    var scopes: [SearchRange] = []
    if let forum { try require(.read, caller, in: forum) }
    let seeing = Permissions.readable(to: caller.role)
    for (id, standing) in try forumStandings(of: caller.user, seeing: seeing) where forum == nil || forum == id {
      guard Permissions.rights(of: caller.role, in: standing).contains(.read) else { continue }
      scopes.append(SearchRange(.forum(id), after: ID(Permissions.fromSeq(of: caller.role, in: standing))))
    }
    guard forum == nil else { return scopes }
    let open = Audience.allCases.filter { audience in
      Permissions.rights(of: caller.role, in: Standing(kind: .channel, readers: audience)).contains(.read)
    }
    for (id, standing) in try conversationStandings(of: caller.user, openTo: open) {
      guard Permissions.rights(of: caller.role, in: standing).contains(.read) else { continue }
      scopes.append(try searchScope(id, fromSeq: Permissions.fromSeq(of: caller.role, in: standing)))
    }
    return scopes
  }

  private func searchScope(_ conversation: ID<Conversation>, fromSeq: Int) throws(Refusal) -> SearchRange {
    SearchRange(.conversation(conversation), after: try lastMessage(before: fromSeq, in: conversation))
  }

  /// Resolves the user of a filter.
  fileprivate func userID(
    _ reference: UserReference, for caller: Caller, _ field: String
  ) throws(Refusal) -> ID<User> {
    do throws(Refusal) {
      return try userID(reference, for: caller)
    } catch {
      throw error == .notFound ? .invalid(field, .unknown) : error
    }
  }
}
