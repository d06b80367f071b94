import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func searchMessages(_ context: RequestContext) async throws -> Response {
    let (request, include) = try context.query { query in (try query.search(), try query.include()) }
    return try .page(
      try await context.community.searchMessages(request, for: context.caller), including: include, context)
  }
}

extension Query {
  fileprivate mutating func search() throws(Refusal) -> SearchRequest {
    var request = SearchRequest()
    request.words = try text("q")
    (request.conversation, request.forum) = (try id("conversation"), try id("forum"))
    (request.author, request.mention) = (try user("author"), try user("mention"))
    (request.hashtag, request.annotation) = (try text("hashtag"), try text("annotation"))
    if let name = try text("action") {
      guard let type = ActionType(name) else { throw .invalid("action", .invalid) }
      request.action = type
    }
    request.locationName = try text("location")
    request.circle = try circle()
    for word in try text("has")?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
      guard let kind = SearchRequest.Kind(rawValue: String(word)) else { throw .invalid("has", .invalid) }
      request.has.insert(kind)
    }
    (request.before, request.after) = (try id("before"), try id("after"))
    (request.beforeTime, request.afterTime) = (try time("before_time"), try time("after_time"))
    request.order = try word("order") ?? .newest
    request.page = try page()
    request.show = try show()
    return request
  }

  private mutating func user(_ name: String) throws(Refusal) -> UserReference? {
    guard let text = try text(name) else { return nil }
    guard let reference = UserReference(parsing: text) else { throw .invalid(name, .invalid) }
    return reference
  }

  /// `near=48.14,11.58&within=500`: both or neither.
  private mutating func circle() throws(Refusal) -> GeoCircle? {
    let (near, within) = (try text("near"), try int("within", in: 1...GeoCircle.maxMetres))
    guard let near else {
      guard within == nil else { throw .invalid("near", .missing) }
      return nil
    }
    guard let within else { throw .invalid("within", .missing) }
    let numbers = near.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1], -90...90 ~= latitude,
      -180...180 ~= longitude
    else { throw .invalid("near", .invalid) }
    return GeoCircle(latitude: latitude, longitude: longitude, metres: Double(within))
  }
}
