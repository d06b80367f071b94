import ParleyWire
import Testing
import Web

@Suite struct FileCacheTests {
  private let folder = TemporaryFolder()
  private let files: StaticFiles
  private let client: InMemory
  private let start = InMemory.now

  init() throws {
    folder.write("a.txt", "one")
    files = try #require(StaticFiles(folder.path, memory: 100_000))
    client = InMemory(fallback: files)
  }

  @Test func `the cache is empty before the first request`() async {
    #expect(files.memory == 0)
    _ = await client.get("/a.txt")
    #expect((1...10_000).contains(files.memory))
  }

  @Test func `an edited file is served within a second`() async {
    #expect(await client.get("/a.txt").text == "one")
    folder.write("a.txt", "two")
    // The file system is not checked within a second …
    #expect(await client.get("/a.txt", now: start + 999).text == "one")
    // … but afterwards.
    #expect(await client.get("/a.txt", now: start + 1_000).text == "two")
    folder.delete("a.txt")
    #expect(await client.get("/a.txt", now: start + 1_500).text == "two")
    #expect(await client.get("/a.txt", now: start + 2_000).status == 404)
    #expect(files.memory == 0)
  }

  @Test func `a file with equal size and time has another tag`() async {
    folder.setModified("a.txt", 1_000_000)
    let first = await client.get("/a.txt")
    folder.write("a.txt", "two")
    folder.setModified("a.txt", 1_000_000)
    let second = await client.get("/a.txt", now: start + 1_000)
    #expect(second.text == "two")
    #expect(first["etag"] != second["etag"])
  }

  @Test func `a file that has just changed is read again, since it may change within the same tick`() async {
    // A request at the time of the change, by the clock of the file system.
    let justNow: Int64 = 0
    #expect(await client.get("/a.txt", now: justNow).text == "one")
    folder.write("a.txt", "two")
    #expect(await client.get("/a.txt", now: justNow + 1_000).text == "two")
  }

  @Test func `an entry expires if the clock is set back`() async {
    #expect(await client.get("/a.txt").text == "one")
    folder.write("a.txt", "two")
    #expect(await client.get("/a.txt", now: start - 1).text == "two")
  }

  @Test func `a precompressed file may be added, changed or deleted`() async {
    let accept: Fields = ["Accept-Encoding": "gzip"]
    #expect(await client.get("/a.txt", accept).text == "one")
    folder.write("a.txt.gz", "packed")
    #expect(await client.get("/a.txt", accept, now: start + 1_000).text == "packed")
    folder.write("a.txt.gz", "packed again")
    #expect(await client.get("/a.txt", accept, now: start + 2_000).text == "packed again")
    folder.delete("a.txt.gz")
    #expect(await client.get("/a.txt", accept, now: start + 3_000).text == "one")
  }

  @Test func `at the memory budget the least recently checked file is evicted`() async {
    for number in 0..<10 {
      folder.write("\(number).png", Array(repeating: UInt8(number), count: 20_000))
      #expect(await client.get("/\(number).png", now: start + Int64(number)).body.first == UInt8(number))
      #expect(files.memory <= 100_000)
    }
    // The last files are still cached: they are served after their deletion, for the rest of the second.
    for number in 0..<10 { folder.delete("\(number).png") }
    #expect(await client.get("/9.png", now: start + 10).status == 200)
    #expect(await client.get("/0.png", now: start + 10).status == 404)
  }

  @Test func `files larger than the budget or the file limit are not cached`() async throws {
    folder.write("big.png", Array(repeating: 1, count: 120_000))
    #expect(await client.get("/big.png").body.count == 120_000)
    #expect(files.memory == 0)
    let roomy = try #require(StaticFiles(folder.path))
    folder.write("huge.png", Array(repeating: 1, count: 256 << 10 + 1))
    #expect(await InMemory(fallback: roomy).get("/huge.png").status == 200)
    #expect(roomy.memory == 0)
  }

  @Test func `all spellings of a name share one cache entry`() async {
    _ = await client.get("/a.txt")
    let memory = files.memory
    for path in ["/%61.txt", "/a%2etxt", "/a.%74xt", "/%61%2Etxt"] { #expect(await client.get(path).status == 200) }
    #expect(files.memory == memory)
  }

  @Test func `loops share the cache`() async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        let client = InMemory(fallback: files)
        group.addTask {
          for step in 0..<50 { #expect(await client.get("/a.txt", now: start + Int64(step) * 100).text == "one") }
        }
      }
    }
    #expect(files.memory < 10_000)
  }
}
