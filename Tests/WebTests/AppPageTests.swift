import ParleyWire
import Testing
import Web

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
      Application(
        router: Router { routes in
          routes.on(.get, "/t/{topic}", page.respond)
          for file in page.files { routes.on(.get, file.path, file.respond) }
        }))
  }

  private func write(_ html: String = AppPageTests.html) {
    folder.makeFolder("css")
    folder.write("index.html", html)
    folder.write("css/a.css", "a { }\n")
    folder.write("css/b.css", "b { }\n")
  }

  @Test func `the page links one style sheet with all sheets in order`() async throws {
    write()
    let client = try client()
    let page = await client.get("/t/12-title")
    #expect(page.status == 200)
    #expect(page["content-type"] == "text/html; charset=utf-8")
    #expect(page["cache-control"] == "no-cache")
    let links = page.text.split(separator: "\n").filter { $0.contains("stylesheet") }
    #expect(links.count == 1)
    let path = try #require(try AppPage(folder.path)?.files.first).path
    #expect(links.first?.contains("href=\"\(path)\"") == true)
    let styles = await client.get(path)
    #expect(styles.text == "a { }\nb { }\n")
    #expect(styles["cache-control"] == "public, max-age=31536000, immutable")
    #expect(styles["content-type"] == "text/css; charset=utf-8")
  }

  @Test func `the policy forbids inline scripts`() async throws {
    write()
    let policy = try #require(await client().get("/t/12")["content-security-policy"])
    #expect(policy.contains("default-src 'self'"))
    #expect(!policy.contains("unsafe-inline"))
    #expect(!policy.contains("unsafe-eval"))
  }

  @Test func `changed content changes the file name`() throws {
    write()
    let before = try #require(try AppPage(folder.path)?.files.first).path
    folder.write("css/b.css", "b { color: red }\n")
    #expect(try #require(try AppPage(folder.path)?.files.first).path != before)
  }

  @Test func `a browser with the current page gets 304`() async throws {
    write()
    let client = try client()
    let tag = try #require(await client.get("/t/1")["etag"])
    #expect(await client.get("/t/1", ["If-None-Match": tag]).status == 304)
  }

  @Test func `the page links one script with all modules`() async throws {
    folder.makeFolder("js")
    folder.write("js/main.js", "import { a } from './a.js';\na();\n")
    folder.write("js/a.js", "export function a() {}\n")
    write("<script type=\"module\" src=\"/js/main.js\"></script>\n" + AppPageTests.html)
    let client = try client()
    let files = try #require(try AppPage(folder.path)).files
    let page = await client.get("/t/1").text
    for file in files { #expect(page.contains("\"\(file.path)\"")) }
    #expect(files.count == 2)
    #expect(!page.contains("/js/main.js"))
    let script = await client.get(files[0].path)
    #expect(script["content-type"] == "text/javascript; charset=utf-8")
    #expect(script["cache-control"] == "public, max-age=31536000, immutable")
    #expect(script.text.contains("function a() {}"))
    let packed = await client.get(files[0].path, ["Accept-Encoding": "gzip"])
    #expect(packed["content-encoding"] == "gzip")
    #expect(packed["etag"] != script["etag"])
  }

  @Test func `lazily loaded modules are a second script that the page names without fetching it`() async throws {
    folder.makeFolder("js")
    folder.write("js/main.js", "[import('./early.js'), import('./late.js')];\n")
    folder.write("js/early.js", "export function early() {}\n")
    folder.write("js/late.js", "export function late() {}\n")
    write(
      "<link rel=\"modulepreload\" href=\"/js/early.js\">\n<script type=\"module\" src=\"/js/main.js\"></script>\n"
        + AppPageTests.html)
    let client = try client()
    let files = try #require(try AppPage(folder.path)).files
    #expect(files.count == 3)
    let page = await client.get("/t/1").text
    #expect(!page.contains("modulepreload"))
    #expect(page.contains("src=\"\(files[0].path)\""))
    #expect(page.contains("<meta name=\"rest\" content=\"\(files[1].path)\">"))
    let beginning = await client.get(files[0].path).text
    #expect(beginning.contains("function early() {}"))
    #expect(beginning.contains("import(\"\(files[1].path)\" + "))
    #expect(!beginning.contains("function late() {}"))
    let rest = await client.get(files[1].path)
    #expect(rest.text.contains("function late() {}"))
    #expect(rest["cache-control"] == "public, max-age=31536000, immutable")
    // The two scripts are of the same version.
    folder.write("js/late.js", "export function later() {}\n")
    let others = try #require(try AppPage(folder.path)).files
    #expect(others[0].path != files[0].path)
    #expect(others[1].path != files[1].path)
  }

  @Test func `a missing module is a fault with its path`() throws {
    write("<script type=\"module\" src=\"/js/main.js\"></script>")
    let fault = try #require(throws: Problem.self) { try AppPage(folder.path) }
    #expect(fault.cause?.contains("/js/main.js") == true)
  }

  @Test(arguments: ["/css/none.css", "/../secret.css", "css/a.css"])
  func `a missing style sheet returns nil`(_ sheet: String) throws {
    write("<link rel=\"stylesheet\" href=\"\(sheet)\">")
    #expect(try AppPage(folder.path) == nil)
  }

  @Test func `a folder without a page returns nil`() throws {
    #expect(try AppPage(folder.path) == nil)
  }
}
