// Search in the messages that the caller may read.

import ParleyMarkup
public import ParleyModel
import Storage

/// The filters of a search. All of them must match.
public struct SearchRequest: Sendable {
  public var words: String?
  /// The code of the language of the words, which then have their other forms, too.
  public var language: String?
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
  public var has: Set<ContentKind> = []
  public var before: ID<Message>?
  public var after: ID<Message>?
  public var beforeTime: Int64?
  public var afterTime: Int64?
  public var order = SearchOrder.newest
  /// Only hits of this kind.
  public var kind: SearchKind?
  /// Whether the first page has the number of hits of each kind.
  public var counts = false
  public var page = PageRequest(limit: 50)
  public var show = MessageOptions()

  public init() {}

  /// Whether the request has no filter other than the scope.
  private var isEmpty: Bool {
    words == nil && author == nil && mention == nil && hashtag == nil && annotation == nil && action == nil
      && locationName == nil && circle == nil && has.isEmpty
  }

  /// Whether the pages run up from `after`. Otherwise they run down from the newest hit.
  fileprivate var isAscending: Bool { after != nil && before == nil }
}

/// A page of hits, and their numbers if they were asked for.
public struct SearchResults: Sendable {
  public var page: ListPage<SearchHit>
  public let counts: SearchCounts?
}

extension Community {
  /// The messages that the caller may read, newest or best match first.
  public func searchMessages(
    _ request: SearchRequest, for caller: Caller
  ) async throws(Refusal) -> SearchResults {
    let (words, search) = try request.search()
    var results = try await store.readInBackground(for: caller.turn) { [bounds] tx throws(Refusal) in
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
      var page = try tx.page(of: search, request)
      let hits = try tx.messages(of: &page, request.page, extra: 4_096, by: { ListKey($0) }) { $0 }
      // The best hits have no next page.
      if search.order != .newest { page.next = nil }
      if request.isAscending { page.items.reverse() }
      let isFirst = request.page.position == nil
      let counts = request.counts && isFirst ? try tx.searchCounts(of: search) : nil
      let found = try page.map { ids throws(Refusal) in
        let views = try tx.views(hits, by: caller, bounds)
        let messages = Dictionary(views.map { ($0.message.id, $0) }) { one, _ in one }
        var hits: [SearchHit] = []
        var forums: [ID<Conversation>: ID<Forum>?] = [:]
        for id in ids {
          let topic = ID<Conversation>(id.number)
          let conversation = messages[id]?.message.conversation ?? topic
          let forum = if let known = forums[conversation] { known } else { try tx.forum(of: conversation) }
          forums[conversation] = .some(forum)
          if let message = messages[id] {
            let names = message.message.content?.attachments.isEmpty == false ? try tx.fileNames(of: id) : []
            let text = message.message.content?.shownText(withNames: names) ?? ""
            let snippet = SearchSnippet(of: text, for: words ?? search.locationName)
            hits.append(SearchHit(.message(message), in: forum, snippet))
          } else if let title = try tx.searchableTitle(of: topic) {
            hits.append(SearchHit(.topic(topic, title: title), in: forum, SearchSnippet(of: title, for: words)))
          }
        }
        return hits
      }
      return SearchResults(page: found, counts: counts)
    }
    var messages = results.page.items.compactMap { hit in
      if case .message(let view) = hit.subject { view } else { nil }
    }
    messages = try await apply(request.show, to: messages, for: caller)
    var rest = messages[...]
    results.page = try results.page.map { hits in
      hits.map { hit in
        guard case .message = hit.subject, let shown = rest.popFirst() else { return hit }
        return SearchHit(.message(shown), in: hit.forum, hit.snippet)
      }
    }
    return results
  }
}

extension Message.Content {
  /// The text without markup, with the options of a poll and the names of the files, for a snippet.
  fileprivate func shownText(withNames fileNames: [String]) -> String {
    ([MarkupDocument(text).plainText()] + (poll?.options.map(\.text) ?? []) + fileNames).filter { !$0.isEmpty }
      .joined(separator: " · ")
  }
}

extension SearchRequest {
  /// The part of the search that needs no database access.
  fileprivate func search() throws(Refusal) -> (words: SearchQuery?, search: MessageSearch) {
    guard !isEmpty else { throw .invalid("q", .missing) }
    let query = try words.map { text throws(Refusal) in try Self.query(text, "q", language) }
    var search = MessageSearch(query, in: [SearchRange]())
    search.locationName = try locationName.map { text throws(Refusal) in try Self.query(text, "location") }
    search.circle = circle
    search.action = action
    search.kind = kind
    if let hashtag {
      search.features.insert(.hashtag(try Texts.hashtag(hashtag, "hashtag")))
    }
    if let annotation {
      guard TypeName.isWellFormed(annotation) else { throw .invalid("annotation", .invalid) }
      search.features.insert(.annotation(annotation))
    }
    for kind in has { search.features.insert(SearchFeature(kind)) }
    search.order = order
    guard order == .newest || query != nil else { throw .invalid("order", .mismatch) }
    (search.before, search.after) = (before, after)
    (search.beforeTime, search.afterTime) = (beforeTime, afterTime)
    return (query, search)
  }

  private static func query(
    _ text: String, _ field: String, _ language: String? = nil
  ) throws(Refusal) -> SearchQuery {
    do throws(SearchQuery.Fault) {
      return try SearchQuery(text, language: language)
    } catch {
      switch error {
      case .empty: throw .invalid(field, .tooShort(min: 1))
      case .onlyExclusions: throw .invalid(field, .invalid)
      case .tooLong(let limit): throw .invalid(field, .tooLong(limit: limit))
      case .tooManyTerms(let limit), .tooManyBeginnings(let limit): throw .invalid(field, .tooMany(limit: limit))
      }
    }
  }
}

extension ReadTransaction {
  /// The best hits are one page, since their order has no key.
  fileprivate func page(of search: MessageSearch, _ request: SearchRequest) throws(Refusal) -> ListPage<ID<Message>> {
    var search = search
    guard search.order == .newest else {
      search.limit = request.page.limit
      return ListPage(try self.search(search).ids)
    }
    var examined: ID<Message>?
    var page = try ListPage(request.page, by: { ListKey($0) }) { slice throws(Refusal) in
      var search = search
      search.isAscending = request.isAscending != slice.isBackward
      search.limit = slice.limit
      if let number = slice.key?.numbers.first {
        let id = ID<Message>(number)
        if search.isAscending {
          search.after = max(id, search.after ?? id)
        } else {
          search.before = min(id, search.before ?? id)
        }
      }
      let hits = try self.search(search)
      // The first slice is the page itself.
      if slice.limit > 1 { examined = hits.examined }
      return search.isAscending ? hits.ids.reversed() : hits.ids
    }
    // A page that ended early has a next one, with or without hits.
    guard let examined else { return page }
    if request.page.position?.direction == .previous {
      page.previous = ListPosition(.previous, from: ListKey(examined))
    } else {
      page.next = ListPosition(.next, from: ListKey(examined))
    }
    return page
  }

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
    for (id, standing) in try forumStandings(of: caller.user, seeing: seeing)
    where (forum == nil || forum == id) && caller.reaches(id) {
      guard Permissions.rights(of: caller.role, in: standing).contains(.read) else { continue }
      scopes.append(SearchRange(.forum(id), after: ID(Permissions.fromSeq(of: caller.role, in: standing))))
    }
    guard forum == nil, caller.forums == nil else { return scopes }
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
  func userID(
    _ reference: UserReference, for caller: Caller, _ field: String
  ) throws(Refusal) -> ID<User> {
    do throws(Refusal) {
      guard case .name = reference else { return try userID(reference, for: caller) }
      return try user(reference, for: caller).user.summary.id
    } catch {
      throw error == .notFound ? .invalid(field, .unknown) : error
    }
  }
}
