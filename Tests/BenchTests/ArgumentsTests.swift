import Testing

@testable import parley_bench

struct ArgumentsTests {
  private func read(_ line: String) throws -> Arguments {
    try Arguments(line.split(separator: " ").map(String.init), options: ["size", "header"], flags: ["json"])
  }

  @Test func `values keep their order and options may stand anywhere`() throws {
    let arguments = try read("http --size 5 one --json two")
    #expect(arguments.values == ["http", "one", "two"])
    #expect(arguments.text("size") == "5")
    #expect(arguments.has("json"))
  }

  @Test func `a value may stand behind an equals sign`() throws {
    #expect(try read("--header=a=b").text("header") == "a=b")
    #expect(try read("--header=").text("header") == "")
  }

  @Test func `an option given twice keeps both, and the last one counts alone`() throws {
    let arguments = try read("--header a --header b")
    #expect(arguments.all("header") == ["a", "b"])
    #expect(arguments.text("header") == "b")
  }

  @Test(arguments: ["--speed 5", "--size", "--json=yes", "-- x"])
  func `what is not known or not whole is refused`(line: String) {
    #expect(throws: UsageError.self) { try read(line) }
  }

  @Test(arguments: ["--size five", "--size 0", "--size 11", "--size 99999999999999999999"])
  func `a number out of its range is refused`(line: String) throws {
    let arguments = try read(line)
    #expect(throws: UsageError.self) { try arguments.integer("size", in: 1...10) }
  }

  @Test func `what is left out has its usual value`() throws {
    #expect(try read("").integer("size", in: 1...10, or: 7) == 7)
    #expect(try read("").integer("size", in: 1...10) == nil)
  }
}
