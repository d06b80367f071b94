import Testing

@testable import API
@testable import Community
@testable import Storage

@Suite struct StaffAlertTests {
  @Test(arguments: TestTransport.allCases) func `an alert is in the inbox of owners and admins alone`(
    transport: TestTransport
  ) async throws {
    try await Village.open(transport) { village in
      try await village.expect(200, .patch, "/users/@linus", as: "ada", ["role": "admin", "end_sessions": false])
      try await village.community.alertStaff("disk")
      try await village.community.alertStaff("backup_late")
      for name in ["ada", "linus"] {
        let inbox = try await village.expect(200, .get, "/inbox?kind=alert", as: name)
        #expect(inbox.count("data") == 2 && inbox["data.0.alert"] == "backup_late" && inbox["data.1.alert"] == "disk")
        #expect(inbox.isNull("data.0.actor_id") && inbox["data.0.kind"] == "alert")
        #expect(try await village.expect(200, .get, "/unread", as: name).int("unread.alert") == 2)
      }
      let other = try await village.expect(200, .get, "/inbox", as: "grace")
      #expect(other.count("data") == 0)
    }
  }

  @Test func `other notifications name no state`() async throws {
    try await Village.open(.inMemory) { village in
      let (_, room) = try await village.garden(members: ["grace"])
      try await village.post("@ada look", in: room, as: "grace")
      let inbox = try await village.expect(200, .get, "/inbox", as: "ada")
      #expect(inbox["data.0.kind"] == "mention" && inbox.isNull("data.0.alert"))
    }
  }
}
