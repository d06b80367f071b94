import Testing

@testable import parley_bench

struct ArgumentsTests {
  private func read(_ line: String) throws -> Arguments {
    try Arguments(line.split(separator: " ").map(String.init), options: ["size", "header"], flags: ["json"])
  }

  @Test func `values keep their order and options may be anywhere`() throws {
    let arguments = try read("http --size 5 one --json two")
    #expect(arguments.values == ["http", "one", "two"])
    #expect(arguments.text("size") == "5")
    #expect(arguments.has("json"))
  }

  @Test func `a value may follow an equals sign`() throws {
    #expect(try read("--header=a=b").text("header") == "a=b")
    #expect(try read("--header=").text("header") == "")
  }

  @Test func `a repeated option keeps all values, and the last is the single value`() throws {
    let arguments = try read("--header a --header b")
    #expect(arguments.all("header") == ["a", "b"])
    #expect(arguments.text("header") == "b")
  }

  @Test(arguments: ["--speed 5", "--size", "--json=yes", "-- x"])
  func `unknown and incomplete options are refused`(line: String) {
    #expect(throws: UsageError.self) { try read(line) }
  }

  @Test(arguments: ["--size five", "--size 0", "--size 11", "--size 99999999999999999999"])
  func `a number out of range is refused`(line: String) throws {
    let arguments = try read(line)
    #expect(throws: UsageError.self) { try arguments.integer("size", in: 1...10) }
  }

  @Test func `an omitted option has its default`() throws {
    #expect(try read("").integer("size", in: 1...10, or: 7) == 7)
    #expect(try read("").integer("size", in: 1...10) == nil)
  }
}

struct LoadArgumentsTests {
  private func read(_ line: String) throws -> LoadArguments {
    try LoadArguments(line.split(separator: " ").map(String.init))
  }

  @Test(arguments: [
    ("http http://127.0.0.1:8080/json", 64), ("http http://127.0.0.1/ --connections 3", 3),
    ("broadcast ws://127.0.0.1/broadcast", 500), ("broadcast ws://127.0.0.1/broadcast --subscribers 7", 7),
    ("idle ws://127.0.0.1/echo --step 10,20,30", 30), ("tls https://127.0.0.1/", 16),
  ])
  func `each scene knows how many connections it has`(line: String, connections: Int) throws {
    #expect(try read(line).connections == connections)
  }

  @Test(arguments: [
    "", "flood http://127.0.0.1/", "http", "http nonsense", "http http://127.0.0.1/ http://127.0.0.2/",
    "idle ws://127.0.0.1/ --step 20,10", "idle ws://127.0.0.1/ --step 1,x", "http http://127.0.0.1/ --header none",
    "http https://127.0.0.1/ --fingerprint abc", "websocket ws://127.0.0.1/echo --size 15",
  ])
  func `an invalid load is refused`(line: String) {
    #expect(throws: UsageError.self) { try read(line) }
  }

  @Test func `a fingerprint may have colons`() throws {
    let digits = Array(repeating: "0A", count: 32).joined(separator: ":")
    guard
      case .client(.fingerprint(let digest)) = try read("tls https://127.0.0.1/ --fingerprint \(digits)").target.tls?
        .role
    else { return #expect(Bool(false), "no pinned certificate") }
    #expect(digest == Array(repeating: 10, count: 32))
  }

  @Test func `a request carries its fields and the length of its body`() throws {
    let target = try read("http http://127.0.0.1:81/a?b=c").target
    let request = target.request(.post, target.pages[0], [(name: "X-Name", value: "ada")], body: Array("hello".utf8))
    #expect(
      String(decoding: request, as: UTF8.self)
        == "POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:81\r\nX-Name: ada\r\nContent-Length: 5\r\n\r\nhello")
  }
}
