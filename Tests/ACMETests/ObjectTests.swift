import ParleyNetworking
import Testing

@testable import ACME

/// Responses of an authority are untrusted.
@Suite struct ObjectTests {
  private static let order =
    #"{"status":"pending","authorizations":["https://ca.example/a/1"],"finalize":"https://ca.example/f","more":1}"#
  private static let authorization =
    #"{"status":"pending","identifier":{"type":"dns","value":"chat.example"},"challenges":[{"type":"dns-01"},"#
    + #"{"type":"http-01","url":"https://ca.example/c/1","token":"abc-_9"}]}"#

  @Test func `objects are read, and unknown members are ignored`() throws {
    let directory = try ACMEDirectory(
      Array(
        #"{"newNonce":"https://ca.example/n","newAccount":"https://ca.example/a","newOrder":"https://ca.example/o","meta":{}}"#
          .utf8))
    #expect(directory.newOrder.description == "https://ca.example/o")
    let order = try ACMEOrder(Array(Self.order.utf8))
    #expect(order.authorizations.count == 1 && order.certificate == nil && order.problem == nil)
    #expect(order.status == .pending)
    let authorization = try ACMEAuthorization(Array(Self.authorization.utf8))
    #expect(authorization.name == "chat.example" && authorization.challenge?.token == "abc-_9")
  }

  @Test(arguments: [
    "", "null", "[]", "{}", #"{"status":1}"#, order.replacing("https://ca.example/f", with: "http://ca.example/f"),
    order.replacing("https://ca.example/a/1", with: "ftp://ca.example/a/1"),
    order.replacing(#"["https://ca.example/a/1"]"#, with: #""https://ca.example/a/1""#),
  ])
  func `a wrong order is refused`(text: String) {
    #expect(throws: ACMEFault.self) { try ACMEOrder(Array(text.utf8)) }
  }

  @Test(arguments: ["", "a/b", "a.b", "../a", "a b", "ä", "a\u{0}", String(repeating: "a", count: 257)])
  func `a token that is no name of a file is refused`(token: String) {
    let text = Self.authorization.replacing("abc-_9", with: token)
    #expect(throws: ACMEFault.self) { try ACMEAuthorization(Array(text.utf8)) }
  }

  @Test func `only the first 100 authorizations of an order are read`() throws {
    let urls = (0..<500).map { #""https://ca.example/a/\#($0)""# }.joined(separator: ",")
    let order = try ACMEOrder(Array(Self.order.replacing(#""https://ca.example/a/1""#, with: urls).utf8))
    #expect(order.authorizations.count == ACMEOrder.maxNames)
  }

  @Test func `a problem is one printable sentence`() {
    let problem = ACMEProblem(
      Array(
        #"{"type":"urn:ietf:params:acme:error:rateLimited","detail":"Too many\nof \u001b[31m\u202Eyou","subproblems":[{"detail":"a"}]}"#
          .utf8), status: 429)
    #expect(problem.type == "rateLimited")
    #expect(problem.sentence == "Too many of  [31m you a.")
    #expect(ACMEProblem(Array("<html>".utf8), status: 502).sentence == "status 502.")
    let long = ACMEProblem(type: "malformed", detail: String(repeating: "x", count: 10_000))
    #expect(long.sentence.utf8.count < 600)
    #expect(ACMEFault.refused(problem, retryAfter: 60).retryAfter == 60)
  }
}
