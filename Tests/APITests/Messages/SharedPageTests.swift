import ParleyModel
import ParleyWire
import Testing

@testable import Community

/// Readers share the JSON of a page. It equals what each of them gets for the single messages.
@Suite struct SharedPageTests {
  private static let readers: [String?] = ["ada", "grace", "linus", nil]

  private static func data(_ text: String) -> Substring {
    guard let end = text.firstRange(of: #","next":"#) else { return "" }
    return text[..<end.lowerBound]
  }

  /// Reads the page of each reader twice, the second time from the cache.
  private static func check(_ village: Village, _ room: String, after step: String) async throws {
    for reader in readers {
      for attempt in 1...2 {
        let page = try await village.request(.get, "/conversations/\(room)/messages", as: reader)
        let ids = page.texts("data", "id").compactMap(\.self)
        try #require(page.status == 200 && !ids.isEmpty, "\(page.text)")
        let single = try await village.request(.get, "/messages?ids=\(ids.joined(separator: ","))", as: reader)
        #expect(data(page.text) == data(single.text), "\(step), \(reader ?? "a visitor"), attempt \(attempt)")
        #expect(page.int("latest_seq") == page.int("data.0.seq"), "\(step)")
        #expect(page["cursor"] == village.community.cursor(at: try await lastEvent(village)), "\(step)")
      }
    }
  }

  private static func lastEvent(_ village: Village) async throws -> Int {
    try await village.community.store.readInBackground { tx throws(Refusal) in try tx.lastEvent() }
  }

  @Test func `each change of a message is on the next page of every reader`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public").room
      var ids: [String] = []
      for (number, name) in ["ada", "grace", "linus", "grace"].enumerated() {
        ids.append(try await village.post("message \(number)", in: room, as: name))
      }
      let file = try await village.upload("rose.png", by: "grace")
      try await Self.check(village, room, after: "posting")
      let steps: [(Method, String, String, [String: Any])] = [
        (.put, "/messages/\(ids[0])/actions/like", "linus", [:]),
        (.put, "/messages/\(ids[1])/actions/star", "linus", [:]),
        (.put, "/messages/\(ids[3])/actions/star", "ada", [:]),
        (.patch, "/messages/\(ids[1])", "grace", ["text": "edited", "attachments": [file]]),
        (.delete, "/messages/\(ids[0])/actions/like", "linus", [:]),
        (.delete, "/messages/\(ids[1])/actions/star", "linus", [:]),
        (.post, "/messages/\(ids[2])/remove", "mira", ["reason": "off topic"]),
        (.post, "/messages/\(ids[2])/restore", "mira", [:]),
        (.patch, "/messages/\(ids[1])", "grace", ["attachments": [String]()]),
        (.post, "/conversations/\(room)/messages", "linus", ["text": "one more"]),
        (.delete, "/messages/\(ids[3])", "grace", [:]),
      ]
      for (method, path, name, body) in steps {
        let answer = try await village.request(method, path, as: name, body.isEmpty ? nil : body)
        try #require(answer.status < 300, "\(path): \(answer.text)")
        try await Self.check(village, room, after: path)
      }
    }
  }

  @Test func `the status of an own message follows its readers`() async throws {
    try await Village.open(.inMemory) { village in
      let talk = try await village.talk(.group, ["grace", "linus"])
      let id = try await village.post("hello", in: talk, as: "grace")
      for expected in ["delivered", "all_read"] {
        for _ in 1...2 {
          let page = try await village.request(.get, "/conversations/\(talk)/messages", as: "grace")
          #expect(page["data.0.status"] == expected)
          #expect(try await village.request(.get, "/conversations/\(talk)/messages", as: "linus")["data.0.status"] == nil)
        }
        _ = try await village.request(.put, "/conversations/\(talk)/read", as: "linus", ["message_id": id])
      }
    }
  }

  @Test func `a reader who mutes an author shares no page`() async throws {
    try await Village.open(.inMemory) { village in
      let room = try await village.garden("garden", "public").room
      try await village.post("one", in: room, as: "linus")
      try await village.post("two", in: room, as: "grace")
      func texts(_ name: String) async throws -> [String?] {
        try await village.request(.get, "/conversations/\(room)/messages", as: name).texts("data", "text")
      }
      #expect(try await texts("ada") == ["two", "one"])
      try await village.mute("linus", by: "ada")
      #expect(try await texts("ada") == ["two"])
      #expect(try await texts("grace") == ["two", "one"])
    }
  }
}
