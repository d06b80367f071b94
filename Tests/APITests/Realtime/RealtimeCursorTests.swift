import Foundation
import Testing

@testable import API
@testable import Storage

/// A client that stores only the last cursor is killed after each frame, and resumes.
@Suite struct RealtimeCursorTests {
  @Test func `a client of topics at different cursors resumes from the last cursor after each frame`() async throws {
    try await Village.open(.socket) { village in
      let (garden, den) = (try await village.garden("garden").room, try await village.garden("den").room)
      var own: [[String: String]] = []
      for room in [garden, den] {
        own.append(["topic": "conversation:\(room)", "cursor": try await village.cursor(as: "grace")])
        for number in 0..<8 { try await village.post("\(number)", in: number % 2 == 0 ? garden : den) }
      }
      let client = try village.connect(as: "grace")
      client.send(try Self.subscribe(own))
      let first = try await client.frames { $0.has("re") }
      #expect(first.dropLast().allSatisfy { !$0.has("cursor") } && first.count == 13)
      for number in 0..<6 { try await village.post("\(number)", in: number % 2 == 0 ? garden : den) }
      let frames = first + (try await client.frames { $0["data.text"] == "5" })
      #expect(frames.suffix(6).allSatisfy { $0.has("cursor") })
      for count in 0...frames.count {
        let stored = frames.prefix(count).compactMap { $0["cursor"] }.last
        let resumed = try village.connect(as: "grace")
        resumed.send(try Self.subscribe(own.map { $0.merging(stored.map { ["cursor": $0] } ?? [:]) { $1 } }))
        let missed = try await resumed.frames { $0.has("re") }
        Self.expect(frames, after: count, missed)
        resumed.leave()
      }
    }
  }

  @Test func `a lagging client resumes from the last cursor after each frame`() async throws {
    try await Village.open(.socket) { village in
      let (conversation, other) = (
        try await village.conversation(.group, ["ada", "grace"]),
        try await village.conversation(.group, ["ada", "grace"])
      )
      let start = try await village.cursor(as: "grace")
      let client = try village.connect("topics=me&after=\(start)", as: "grace")
      _ = try await client.event("complete")
      client.pause()
      let text = String(repeating: "🌱", count: 15_000)
      for _ in 0..<220 { try await village.post(text, in: conversation) }
      client.resume()
      var frames = try await client.frames { $0["event"] == "lagging" }
      let lag = frames.count
      try await village.post("elsewhere", in: other)
      frames += try await client.frames { $0["data.text"] == "elsewhere" }
      #expect(frames.prefix(lag - 1).allSatisfy { $0.has("cursor") } && !frames[lag].has("cursor"))
      let from = try #require(frames.compactMap { $0["cursor"] }.last)
      client.send(try Self.subscribe([["topic": "conversation:\(conversation)", "cursor": from]]))
      frames += try await client.frames { $0.has("re") }
      #expect(frames[lag...].dropLast().allSatisfy { !$0.has("cursor") } && frames.last?.has("cursor") == true)
      try await village.post("live", in: conversation)
      frames += try await client.frames { $0["data.text"] == "live" }
      #expect(frames.last?.has("cursor") == true)
      for count in [0, 1, lag - 1, lag, lag + 1, lag + 2, frames.count - 2, frames.count - 1, frames.count] {
        let stored = frames.prefix(count).compactMap { $0["cursor"] }.last ?? start
        let resumed = try village.connect("topics=me&after=\(stored)", as: "grace")
        let missed = try await resumed.frames { $0["event"] == "complete" }
        Self.expect(frames, after: count, missed)
        resumed.leave()
      }
    }
  }

  private static func subscribe(_ topics: [[String: String]]) throws -> String {
    let command: [String: Any] = ["id": 1, "do": "subscribe", "topics": topics]
    return String(decoding: try JSONSerialization.data(withJSONObject: command), as: UTF8.self)
  }

  /// The first frames and the missed ones have every event of each stream once and in order, apart from known ids.
  private static func expect(
    _ frames: [Answer], after count: Int, _ missed: [Answer], at location: SourceLocation = #_sourceLocation
  ) {
    var known: Set<String> = []
    var received: [String: [Int]] = [:]
    for frame in frames.prefix(count) + missed {
      guard let id = frame["id"], known.insert(id).inserted, let stream = frame["stream"] else { continue }
      received[stream, default: []].append(frame.int("offset") ?? 0)
    }
    var all: [String: Set<Int>] = [:]
    for frame in frames where frame.has("id") {
      all[frame["stream"] ?? "", default: []].insert(frame.int("offset") ?? 0)
    }
    #expect(received == all.mapValues { $0.sorted() }, "killed after \(count) frames", sourceLocation: location)
  }
}

extension LiveClient {
  /// All frames up to and including the last one.
  fileprivate func frames(until isLast: (Answer) -> Bool) async throws -> [Answer] {
    var all: [Answer] = []
    while true {
      let one = try await next()
      all.append(one)
      if isLast(one) { return all }
    }
  }
}
