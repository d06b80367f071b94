import Testing

@testable import ParleyProgram

@Suite struct MetricsTextTests {
  @Test func `metrics are lines with help and type`() {
    var text = MetricsText()
    text.begin("parley_connections", .gauge, "Open connections.")
    text.sample(["protocol": "http"], 3)
    text.sample(["protocol": "websocket", "a": "b"], 0.25)
    text.add("parley_commits_total", .counter, "Commits.", 1_234_567_890_123)
    #expect(
      text.text == """
        # HELP parley_connections Open connections.
        # TYPE parley_connections gauge
        parley_connections{protocol="http"} 3
        parley_connections{a="b",protocol="websocket"} 0.25
        # HELP parley_commits_total Commits.
        # TYPE parley_commits_total counter
        parley_commits_total 1234567890123

        """)
  }

  @Test func `the process has memory, time and descriptors`() throws {
    let process = try #require(ProcessStatus())
    #expect(process.residentBytes > 1_000_000 && process.processorTime > 0 && process.descriptorCount > 2)
  }
}
