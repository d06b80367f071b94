import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension API {
  @Sendable static func searchMessages(_ context: RequestContext) async throws -> Response {
    let (request, include) = try context.query { query in (try query.search(), try query.include()) }
    let results = try await context.community.searchMessages(request, for: context.caller)
    return try .page(results.page, including: include, context) { json in
      if let counts = results.counts { json.field("counts", counts) }
    }
  }
}

extension Query {
  fileprivate mutating func search() throws(Refusal) -> SearchRequest {
    var request = SearchRequest()
    request.words = try text("q")
    request.language = try text("language")
    (request.conversation, request.forum) = (try id("conversation"), try id("forum"))
    (request.author, request.mention) = (try reference("author"), try reference("mention"))
    (request.hashtag, request.annotation) = (try text("hashtag"), try text("annotation"))
    request.action = try action("action")
    request.locationName = try text("location")
    request.circle = try circle()
    request.has = Set(try words("has") ?? [])
    (request.before, request.after) = (try id("before"), try id("after"))
    (request.beforeTime, request.afterTime) = (try time("before_time"), try time("after_time"))
    request.order = try word("order") ?? .newest
    (request.kind, request.counts) = (try word("kind"), try flag("counts") ?? false)
    request.page = try page()
    request.show = try show()
    return request
  }

  /// `near=48.14,11.58&within=500`: both or neither.
  private mutating func circle() throws(Refusal) -> GeoCircle? {
    let (near, within) = (try text("near"), try int("within", in: 1...GeoCircle.maxMetres))
    guard let near else {
      return within == nil ? nil : refuse("near", .missing)
    }
    guard let within else { return faults.contains { $0.field == "within" } ? nil : refuse("within", .missing) }
    let numbers = near.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1], -90...90 ~= latitude,
      -180...180 ~= longitude
    else { return refuse("near", .invalid) }
    return GeoCircle(latitude: latitude, longitude: longitude, metres: Double(within))
  }
}
