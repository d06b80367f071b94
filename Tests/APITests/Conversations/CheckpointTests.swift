import ParleyJSON
import ParleyModel
import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct CheckpointTests {
  private static func checkpoint(of conversation: String, as name: String?, _ village: Village) async throws
    -> Checkpoint
  {
    let answer = try await village.request(.get, "/conversations/\(conversation)/checkpoint", as: name)
    #expect(answer.status == 200, "\(answer.text)")
    return try Checkpoint(json: JSONValue(parsing: Array(answer.text.utf8)))
  }

  @Test(arguments: TestTransport.allCases)
  func `a checkpoint is signed by the key of the site and moves with each change`(transport: TestTransport) async throws
  {
    try await Village.open(transport) { village in
      let conversation = try await village.conversation(.group, ["grace", "linus"])
      let key = try await village.expect(200, .get, "/server")["site_key"]
      var hashes: Set<String> = []
      var positions: [Int] = []
      func look() async throws {
        let checkpoint = try await Self.checkpoint(of: conversation, as: "linus", village)
        #expect(checkpoint.isSigned && checkpoint.key == key && checkpoint.conversation.description == conversation)
        positions.append(checkpoint.position)
        hashes.insert(checkpoint.hash)
      }
      try await look()
      let path = "/conversations/\(conversation)/messages"
      let id = try #require(try await village.request(.post, path, as: "grace", ["text": "hello"])["id"])
      try await look()
      try await village.expect(200, .patch, "/messages/\(id)", as: "grace", ["text": "hullo"])
      try await look()
      // An action is no entry.
      try await village.request(.put, "/messages/\(id)/actions/like", as: "linus")
      try await look()
      try await village.request(.delete, "/messages/\(id)", as: "grace")
      try await look()
      #expect(positions == [0, 1, 2, 2, 3] && hashes.count == 4)
    }
  }

  @Test func `a checkpoint is for the readers of its conversation`() async throws {
    try await Village.open(.inMemory) { village in
      let direct = try await village.conversation(.direct, ["grace", "linus"])
      for (name, status) in [(nil, 404), ("mira", 404), ("ada", 404), ("grace", 200)] {
        let answer = try await village.request(.get, "/conversations/\(direct)/checkpoint", as: name)
        #expect(answer.status == status, "\(name ?? "a visitor")")
      }
      let room = try await village.garden("garden", "public").room
      #expect(try await Self.checkpoint(of: room, as: nil, village).isSigned)
      try await village.expect(404, .get, "/conversations/999999/checkpoint", as: "grace")
    }
  }
}
