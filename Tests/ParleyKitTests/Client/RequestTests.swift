import ParleyJSON
import ParleyModel
import Testing

@testable import ParleyKit

@Test func `path and query values are percent-encoded`() {
  #expect(Request<Resource<LinkPurpose>>.getLink("a/b?c#d e%").target == "/api/v1/links/a%2Fb%3Fc%23d%20e%25")
  #expect(
    Request<Page<Resource<SearchMatch>>>.searchMessages(q: "a&b=ä").target == "/api/v1/messages/search?q=a%26b%3D%C3%A4"
  )
  #expect(
    Request<Void>.removeAction(on: ID(12), type: .reaction("👍")).target.hasPrefix(
      "/api/v1/messages/12/actions/reaction%3A%F0"))
  #expect(Request<Void>.followUser(.name("ada")).target == "/api/v1/users/%40ada/follow")
}

@Test func `a request is a value that can be changed and built for any path`() {
  let page = Request<Page<Resource<MessageView>>>.listMessages(in: ID(7), after: ID(9), limit: 20, includeMachine: true)
  #expect(page.target == "/api/v1/conversations/7/messages?after=9&limit=20&include_machine=true")
  #expect(page.with("limit", "5").target == "/api/v1/conversations/7/messages?after=9&include_machine=true&limit=5")
  #expect(!page.unauthenticated().isAuthenticated && page.isAuthenticated)
  #expect(Request<Fact>(.post, "/things/{id}/parts", ["1 2"]).target == "/api/v1/things/1%202/parts")
}

@Test func `a request may name any path of the site`() {
  var request = Request<RawResponse>(.get, "/feeds/{name}", ["garden news"], query: [QueryItem("limit", "5")])
  request.base = ""
  #expect(request.target == "/feeds/garden%20news?limit=5")
  #expect(request.isAuthenticated && !request.unauthenticated().isAuthenticated)
  #expect(request.unauthenticated().target == request.target)
}

@Test(arguments: [
  ("chat.example", "https://chat.example"), ("Chat.Example/", "https://chat.example"),
  ("http://127.0.0.1:8080", "http://127.0.0.1:8080"), ("HTTPS://[::1]:8443/", "https://[::1]:8443"),
])
func `an address without a scheme uses HTTPS`(text: String, origin: String) {
  #expect(ServerAddress(text)?.origin == origin)
}

@Test(arguments: ["", "/", "https://", "chat.example/path", "ftp://chat.example", "a b", "ada@chat.example", "a\r\nb"])
func `an address with additional parts is refused`(text: String) {
  #expect(ServerAddress(text) == nil)
}

@Test func `retry delays grow with jitter up to a maximum`() {
  var retryPolicy = RetryPolicy()
  retryPolicy.jitter = { 0 }
  #expect((1...8).map { retryPolicy.delay(after: $0) } == [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000])
  retryPolicy.jitter = { 1 }
  #expect((1...8).map { retryPolicy.delay(after: $0) } == [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  #expect(retryPolicy.delay(after: Int.max) == 30_000)
}
