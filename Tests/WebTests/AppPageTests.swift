import Testing
import Web
import Wire

@Suite struct AppPageTests {
  private let folder = TemporaryFolder()

  private static let html = """
    <!doctype html>
    <head>
      <link rel="icon" href="/icon.svg">
      <link rel="stylesheet" href="/css/a.css">
      <link rel="stylesheet" href="/css/b.css">
    </head>
    """

  private func client() throws -> InMemory {
    let page = try #require(try AppPage(folder.path))
    return InMemory(
      Site(
        router: Router { routes in
          routes.on(.get, "/t/{topic}", page.answer)
          routes.on(.get, page.stylesPath, page.answerStyles)
        }))
  }

  private func write(_ html: String = AppPageTests.html) {
    folder.makeFolder("css")
    folder.write("index.html", html)
    folder.write("css/a.css", "a { }\n")
    folder.write("css/b.css", "b { }\n")
  }

  @Test func `the page names one sheet, and that is all of them in order`() async throws {
    write()
    let client = try client()
    let page = await client.get("/t/12-title")
    #expect(page.status == 200)
    #expect(page["content-type"] == "text/html; charset=utf-8")
    #expect(page["cache-control"] == "no-cache")
    let links = page.text.split(separator: "\n").filter { $0.contains("stylesheet") }
    #expect(links.count == 1)
    let path = try #require(try AppPage(folder.path)).stylesPath
    #expect(links.first?.contains("href=\"\(path)\"") == true)
    let styles = await client.get(path)
    #expect(styles.text == "a { }\nb { }\n")
    #expect(styles["cache-control"] == "public, max-age=31536000, immutable")
    #expect(styles["content-type"] == "text/css; charset=utf-8")
  }

  @Test func `no script that stands in the page itself may run`() async throws {
    write()
    let policy = try #require(await client().get("/t/12")["content-security-policy"])
    #expect(policy.contains("default-src 'self'"))
    #expect(!policy.contains("unsafe-inline"))
    #expect(!policy.contains("unsafe-eval"))
  }

  @Test func `another content has another name`() throws {
    write()
    let before = try #require(try AppPage(folder.path)).stylesPath
    folder.write("css/b.css", "b { color: red }\n")
    #expect(try #require(try AppPage(folder.path)).stylesPath != before)
  }

  @Test func `a browser that has the page is told so`() async throws {
    write()
    let client = try client()
    let tag = try #require(await client.get("/t/1")["etag"])
    #expect(await client.get("/t/1", ["If-None-Match": tag]).status == 304)
  }

  @Test(arguments: ["/css/none.css", "/../secret.css", "css/a.css"])
  func `a sheet that is not there leaves no page`(_ sheet: String) throws {
    write("<link rel=\"stylesheet\" href=\"\(sheet)\">")
    #expect(try AppPage(folder.path) == nil)
  }

  @Test func `a folder without a page is none of ours`() throws {
    #expect(try AppPage(folder.path) == nil)
  }
}
