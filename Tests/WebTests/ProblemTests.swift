import ParleyWire
import Synchronization
import Testing
import Web

@Suite struct ProblemTests {
  private struct Broken: Error {
    let path = "/var/lib/parley/secret.db"
  }

  private final class LogLines: Sendable {
    let all = Mutex<[String]>([])
  }

  private let logLines = LogLines()
  private let client: InMemory

  init() {
    let logLines = logLines
    client = InMemory(
      Application(
        router: Router { routes in
          routes.on(.get, "/broken") { _, _ throws(Problem) in throw .broken(Broken()) }
          routes.on(.get, "/full") { _, _ throws(Problem) in
            throw Problem(
              .unprocessableContent, code: "invalid", title: "Not <so>.", detail: "A \"detail\" & more.",
              params: [("limit", .number(5)), ("name", .text("ada"))],
              errors: [
                .init(field: "text", code: "too_long", params: [("limit", .number(9))]),
                .init(field: "to", code: "missing"),
              ],
              fields: ["Retry-After": "7"])
          }
          routes.on(.post, "/large") { request, _ throws(Problem) in
            .text("\(try await request.body.collect(limit: 4).count)")
          }
        }, log: { line in logLines.all.withLock { $0.append(line) } }))
  }

  @Test func `a problem is an RFC 9457 document`() async throws {
    let answer = await client.get("/full")
    #expect(answer.status == 422)
    #expect(answer["content-type"] == "application/problem+json")
    #expect(answer["retry-after"] == "7")
    #expect(answer["cache-control"] == "no-store")
    #expect(
      answer.text == """
        {"type":"http://localhost/docs/errors#invalid","title":"Not <so>.","status":422,"code":"invalid","detail":"A \\"detail\\" & more.",\
        "params":{"limit":5,"name":"ada"},"errors":[{"field":"text","code":"too_long","params":{"limit":9}},\
        {"field":"to","code":"missing"}],"request":"0000abcd-1"}
        """)
  }

  @Test func `the type is the address of the code's documentation`() async {
    let answer = await client.get("/nothing", ["Host": "chat.example.org:8080"])
    #expect(answer.text.hasPrefix(#"{"type":"http://chat.example.org:8080/docs/errors#not_found","#))
    let site = InMemory(
      Application(
        router: Router { _ in }, addresses: Addresses(publicOrigins: [WebAddress("https://chat.example.org")!])))
    let atSite = await site.get("/nothing", ["Host": "localhost:8080"])
    #expect(atSite.text.hasPrefix(#"{"type":"https://chat.example.org/docs/errors#not_found","#))
  }

  @Test(arguments: [
    (Method.get, "/nothing", 404, "not_found"), (.post, "/full", 405, "method_not_allowed"),
    (.get, "/broken", 500, "internal"),
  ])
  func `every refusal has a status and a code`(_ method: Method, _ path: String, _ status: Int, _ code: String)
    async
  {
    let answer = await client.send(method, path)
    #expect(answer.status == status)
    #expect(answer.text.contains("\"status\":\(status),\"code\":\"\(code)\""))
    #expect(answer.text.contains("\"request\":\"0000abcd-1\""))
  }

  @Test func `the cause of an internal error is only logged`() async {
    let answer = await client.get("/broken")
    #expect(!answer.text.contains("secret"))
    #expect(!answer.text.contains("Broken"))
    let lines = logLines.all.withLock { $0 }
    #expect(lines.count == 1)
    #expect(lines.first?.contains("secret.db") == true)
    #expect(lines.first?.hasPrefix("0000abcd-1 ") == true)
    _ = await client.get("/nothing")
    #expect(logLines.all.withLock { $0.count } == 1)
  }

  @Test func `a body over the limit closes the connection`() async {
    let answer = await client.send(.post, "/large", body: Array("12345".utf8))
    #expect(answer.status == 413)
    #expect(answer["connection"] == "close")
    #expect(answer.text.contains("\"params\":{\"limit\":4}"))
  }

  @Test(arguments: [
    ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true), ("text/html", true),
    ("text/html;q=0.9, */*;q=0.1", true), ("*/*", false), ("application/json", false),
    ("application/json, text/html", false), ("application/problem+json, text/html", false),
    ("text/html;q=0.5, application/json", false), ("text/*", true), ("", false), ("image/png", false),
  ])
  func `browsers get an HTML page and programs a JSON document`(_ accept: String, _ isPage: Bool) async {
    let answer = await client.get("/nothing", ["Accept": accept])
    #expect(answer.status == 404)
    #expect(answer["content-type"] == (isPage ? "text/html; charset=utf-8" : "application/problem+json"))
    #expect(answer["vary"] == "Accept")
    #expect(answer["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'")
    #expect(answer["cache-control"] == "no-store")
  }

  @Test func `text in a page is escaped`() async {
    let answer = await client.get("/full", ["Accept": "text/html"])
    #expect(answer.status == 422)
    #expect(answer.text.contains("<h1>Not &lt;so&gt;.</h1>"))
    #expect(answer.text.contains("A &quot;detail&quot; &amp; more."))
    #expect(answer["retry-after"] == "7")
    #expect(await client.send(.post, "/full", ["Accept": "text/html"])["content-type"] == "application/problem+json")
  }

  @Test func `a value from a peer can't inject a field`() async {
    let problem = Problem(.badRequest, code: "invalid", title: "x", fields: ["Location": "a\r\nSet-Cookie: b=c"])
    let response = problem.response(id: RequestID(process: 1, number: 1), origin: "")
    #expect(!response.fields.has("set-cookie"))
  }
}
