import ParleyWire
import Testing
import Web

/// Path lookup. No path may reach the secret file outside the folder.
@Suite struct StaticPathTests {
  private let folder = TemporaryFolder()
  private let client: InMemory

  init() throws {
    folder.write("secret", "secret")
    folder.makeFolder("Public")
    folder.makeFolder("Public/docs")
    folder.makeFolder("Public/docs/empty")
    folder.makeFolder("Public/.git")
    folder.makeFolder("Public/a:b")
    folder.makeFolder("Public/folder.js")
    folder.makeFolder("outside")
    folder.write("outside/file", "secret")
    folder.write("Public/index.html", "home")
    folder.write("Public/app.js", "app")
    folder.write("Public/app", "plain app")
    folder.write("Public/café.txt", "coffee")
    folder.write("Public/a b&c.txt", "odd")
    folder.write("Public/%41.txt", "percent")
    folder.write("Public/..hidden", "secret")
    folder.write("Public/.env", "secret")
    folder.write("Public/.git/config", "secret")
    folder.write("Public/docs/index.html", "docs")
    folder.write("Public/docs/a.txt", "a")
    folder.write("Public/docs/.htaccess", "secret")
    folder.write("Public/a:b/index.html", "colon")
    folder.link("Public/out", to: "../secret")
    folder.link("Public/absolute", to: "/etc/passwd")
    folder.link("Public/outfolder", to: "../outside")
    folder.link("Public/etc", to: "/etc")
    folder.link("Public/inside.js", to: "app.js")
    folder.link("Public/infolder", to: "docs")
    folder.link("Public/dangling", to: "nowhere")
    folder.link("Public/loop", to: "loop")
    folder.link("Public/docs/up", to: "..")
    folder.makeFIFO("Public/fifo")
    folder.makeFIFO("Public/docs/fifo.js")
    client = InMemory(fallback: try #require(StaticFiles("\(folder.path)/Public")))
  }

  @Test(arguments: [
    ("/", "home"), ("/index.html", "home"), ("/app.js", "app"), ("/app", "plain app"), ("/app.js?v=1", "app"),
    ("/docs/", "docs"), ("/docs/index.html", "docs"), ("/docs/a.txt", "a"), ("/%61pp.js", "app"), ("/ap%70.js", "app"),
    ("/docs/%61.txt", "a"), ("/caf%C3%A9.txt", "coffee"), ("/caf%c3%a9.txt", "coffee"), ("/a%20b%26c.txt", "odd"),
    ("/a%20b&c.txt", "odd"), ("/%2541.txt", "percent"), ("/a:b/", "colon"), ("/a%3Ab/", "colon"),
  ])
  func `a file is found by its name in any spelling`(_ path: String, _ content: String) async {
    // Twice: the second time from the cache.
    for _ in 0..<2 {
      let answer = await client.get(path)
      #expect(answer.status == 200)
      #expect(answer.text == content)
    }
  }

  @Test(arguments: [
    // `..` in every spelling.
    "/../secret", "/docs/../app.js", "/docs/../../secret", "/./app.js", "/docs/.", "/docs/..", "/..", "/../",
    "/%2e%2e/secret", "/%2E%2E/secret", "/.%2e/secret", "/%2e./secret", "/docs/%2e%2e/app.js", "/%2e/app.js",
    "/..%2fsecret", "/%2e%2e%2fsecret", "/docs%2f..%2f..%2fsecret", "/..%5csecret", "/..\\secret", "/docs\\a.txt",
    "/docs%5Ca.txt", "/docs%2Fa.txt", "/%252e%252e/secret", "/..%252fsecret", "/..%c0%afsecret", "/%c0%ae%c0%ae/secret",
    "/....//secret", "/..;/secret", "/..%00/secret", "/%ef%bc%8e%ef%bc%8e/secret",
    // Extra slashes.
    "//", "//app.js", "///secret", "//etc/passwd", "/docs//a.txt", "/app.js/", "/app.js//", "//docs", "/docs//",
    // Bytes that are not allowed in names.
    "/app.js%00", "/app.js%00.txt", "/%00", "/app.js%0a", "/app.js%0d%0a", "/app.js%7f", "/app.js%20", "/app.js%",
    "/app.js%4",
    "/%zz", "/caf%C3", "/caf%C3%A9.txt%", "/caf%E9.txt", "/app.js%09", "app.js", "", "*",
    // Hidden files.
    "/.env", "/%2eenv", "/..hidden", "/%2e%2ehidden", "/.git/config", "/.git/", "/.git", "/docs/.htaccess",
    "/docs/%2ehtaccess", "/...", "/.well-known/x",
    // Symbolic links, out of the folder and within.
    "/out", "/absolute", "/outfolder/file", "/outfolder/", "/outfolder", "/etc/passwd", "/etc/hostname", "/inside.js",
    "/infolder/a.txt", "/infolder/", "/infolder", "/dangling", "/loop", "/loop/x", "/docs/up/app.js",
    "/docs/up/up/secret",
    // Not regular files.
    "/fifo", "/docs/fifo.js", "/folder.js", "/docs/empty", "/docs/empty/", "/fifo/x",
    // Names are case-sensitive.
    "/APP.JS", "/App.js", "/Docs/", "/INDEX.HTML", "/nothing", "/nothing/", "/docs/nothing.txt", "/app.js/x",
    "/caf%65%CC%81.txt",
  ])
  func `no other path finds a file`(_ path: String) async {
    let answer = await client.get(path)
    #expect(answer.status == 404)
    #expect(answer["content-type"] == "application/problem+json")
    #expect(!answer.text.contains("secret\""))
    #expect(!answer.text.contains(folder.path))
  }

  @Test func `a name over the length or depth limit is not found`() async {
    #expect(await client.get("/" + String(repeating: "a", count: 300)).status == 404)
    #expect(await client.get(String(repeating: "/a", count: 30)).status == 404)
    #expect(await client.get(String(repeating: "/docs", count: 70)).status == 404)
    #expect(await client.get("/" + String(repeating: "%C3%A9", count: 200)).status == 404)
  }

  @Test(arguments: [
    ("/docs", "./docs/"), ("/docs?a=1&b=//x", "./docs/?a=1&b=//x"), ("/%64ocs", "./%64ocs/"), ("/a:b", "./a:b/"),
  ])
  func `a folder redirects to its URL with a slash, relatively`(_ path: String, _ location: String) async {
    let answer = await client.get(path)
    #expect(answer.status == 301)
    #expect(answer["location"] == location)
  }

  @Test func `a file that is replaced by a link is not found`() async {
    folder.write("Public/page.html", "page")
    #expect(await client.get("/page.html").status == 200)
    folder.delete("Public/page.html")
    folder.link("Public/page.html", to: "../secret")
    #expect(await client.get("/page.html", now: InMemory.now + 1_000).status == 404)
  }

  @Test func `a folder that is replaced by a link is not found`() async {
    folder.makeFolder("Public/sub")
    folder.write("Public/sub/file", "inside")
    #expect(await client.get("/sub/file").status == 200)
    folder.move("Public/sub", to: "Public/moved")
    folder.link("Public/sub", to: "../outside")
    #expect(await client.get("/sub/file", now: InMemory.now + 1_000).status == 404)
  }

  @Test func `the public folder may be a link and may be replaced`() async throws {
    folder.link("current", to: "Public")
    let client = InMemory(fallback: try #require(StaticFiles("\(folder.path)/current")))
    #expect(await client.get("/app.js").text == "app")
    folder.makeFolder("Next")
    folder.write("Next/app.js", "next")
    folder.delete("current")
    folder.link("current", to: "Next")
    #expect(await client.get("/app.js", now: InMemory.now + 1_000).text == "next")
  }

  @Test func `a missing public folder returns nil`() {
    #expect(StaticFiles("\(folder.path)/nowhere") == nil)
    #expect(StaticFiles("\(folder.path)/secret") == nil)
  }
}
