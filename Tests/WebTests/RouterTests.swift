import ParleyWire
import Testing
import Web

@Suite struct RouterTests {
  /// Each route responds with its pattern and its variables.
  private let client: InMemory

  init() {
    let router = Router { routes in
      func on(_ method: Method, _ pattern: String) {
        routes.on(method, pattern) { request, _ in
          let values = ["id", "name", "path"].compactMap { name in request.parameters[name].map { "\(name)=\($0)" } }
          return .text(([method.name, pattern] + values).joined(separator: " "))
        }
      }
      on(.get, "/")
      on(.get, "/forums")
      on(.post, "/forums")
      on(.get, "/forums/new")
      on(.get, "/forums/{id}")
      on(.delete, "/forums/{id}")
      on(.get, "/forums/{id}/people")
      on(.get, "/forums/{id}/people/{name}")
      on(.get, "/forums/new/drafts")
      on(.get, "/files/{path...}")
      on(.get, "/files/{id}/about")
      on(.get, "/docs/")
      on(.head, "/own")
      on(.get, "/own")
      on(.options, "/own")
      on(.other("REPORT"), "/report")
    }
    client = InMemory(Application(router: router))
  }

  @Test(arguments: [
    (Method.get, "/", "GET /"), (.get, "/forums", "GET /forums"), (.post, "/forums", "POST /forums"),
    (.get, "/forums?page=2", "GET /forums"),
    // Priority: literal, variable, rest.
    (.get, "/forums/new", "GET /forums/new"), (.get, "/forums/7", "GET /forums/{id} id=7"),
    (.get, "/forums/new/drafts", "GET /forums/new/drafts"),
    (.get, "/forums/new/people", "GET /forums/{id}/people id=new"),
    (.get, "/forums/7/people/ada", "GET /forums/{id}/people/{name} id=7 name=ada"),
    (.get, "/files/7/about", "GET /files/{id}/about id=7"),
    (.get, "/files/a", "GET /files/{path...} path=a"), (.get, "/files/a/b/c", "GET /files/{path...} path=a/b/c"),
    (.get, "/files/7/about/x", "GET /files/{path...} path=7/about/x"),
    (.get, "/files/a/", "GET /files/{path...} path=a/"),
    (.get, "/docs/", "GET /docs/"),
    // Escapes are decoded per segment.
    (.get, "/forums/caf%C3%A9", "GET /forums/{id} id=café"), (.get, "/forums/a%20b", "GET /forums/{id} id=a b"),
    (.get, "/forums/%2541", "GET /forums/{id} id=%41"), (.get, "/%66orums", "GET /forums"),
    (.get, "/forums/%6eew", "GET /forums/new"), (.get, "/forums/+", "GET /forums/{id} id=+"),
    // HEAD uses the GET route unless it has its own.
    (.head, "/forums", "GET /forums"), (.head, "/own", "HEAD /own"), (.options, "/own", "OPTIONS /own"),
    (.other("REPORT"), "/report", "REPORT /report"),
  ])
  func `a path finds its route`(_ method: Method, _ path: String, _ expected: String) async {
    let answer = await client.send(method, path)
    #expect(answer.status == 200)
    #expect(answer.text == expected)
  }

  @Test(arguments: [
    "/forum", "/Forums", "/forums/", "/forums//", "/forums/7/", "/forums//people", "/forums/7/people/", "/docs", "//",
    "/files", "/files/", "/files//a", "/forums/..", "/forums/.", "/forums/%2e%2e", "/forums/a%2Fb", "/forums/a%5Cb",
    "/forums/%00", "/forums/%", "/forums/%C3", "/files/../forums", "/files/a/../b", "/report/x", "forums", "",
  ])
  func `other paths have no route`(_ path: String) async {
    #expect(await client.get(path).status == 404)
  }

  @Test(arguments: [
    (Method.put, "/forums", "GET, HEAD, OPTIONS, POST"), (.post, "/forums/7", "DELETE, GET, HEAD, OPTIONS"),
    (.delete, "/forums/new", "GET, HEAD, OPTIONS"), (.get, "/report", "OPTIONS, REPORT"),
    (.head, "/report", "OPTIONS, REPORT"), (.other("get"), "/forums", "GET, HEAD, OPTIONS, POST"),
    (.post, "/files/a/b", "GET, HEAD, OPTIONS"),
  ])
  func `an unknown method gets the allowed methods`(_ method: Method, _ path: String, _ allowed: String) async {
    let answer = await client.send(method, path)
    #expect(answer.status == 405)
    #expect(answer["allow"] == allowed)
    #expect(answer["content-type"] == "application/problem+json")
  }

  @Test func `OPTIONS is answered for every path`() async {
    let answer = await client.send(.options, "/forums/7")
    #expect(answer.status == 204)
    #expect(answer["allow"] == "DELETE, GET, HEAD, OPTIONS")
    #expect(answer.body.isEmpty)
    #expect(await client.send(.options, "*").status == 204)
    #expect(await client.send(.options, "/nothing").status == 404)
  }

  @Test func `duplicate routes fail at startup`() async {
    await #expect(processExitsWith: .failure) {
      _ = Router { routes in
        routes.on(.get, "/a/{id}") { _, _ in .text("") }
        routes.on(.get, "/a/{id}") { _, _ in .text("") }
      }
    }
    await #expect(processExitsWith: .failure) {
      _ = Router { routes in
        routes.on(.get, "/a/{id}") { _, _ in .text("") }
        routes.on(.get, "/a/{name}/b") { _, _ in .text("") }
      }
    }
  }
}
