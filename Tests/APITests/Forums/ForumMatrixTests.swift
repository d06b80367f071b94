import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Expected status of every forum endpoint for every caller and visibility, written by hand. A changed row is a changed
/// promise.
@Suite struct ForumMatrixTests {
  /// Site roles: visitor, guest, bot, member, moderator, admin, owner. Forum roles: member, moderator, admin.
  private static let callers = [nil, "gus", "robo", "linus", "mira", "alma", "ada", "fay", "finn", "fred"]

  struct Row: Sendable {
    let method: ParleyWire.Method
    let path: String
    let body: String
    /// Per visibility, the first digit of each status; for 401, 403 and 404 the last digit.
    let answers: [Visibility: String]

    init(
      _ method: ParleyWire.Method, _ path: String, _ body: String = "", `public`: String, members: String,
      `private`: String
    ) {
      self.method = method
      self.path = path
      self.body = body
      answers = [.public: `public`, .members: members, .private: `private`]
    }
  }

  private static let rows = [
    Row(.get, "/forums/F", public: "2222222222", members: "4422222222", private: "4444422222"),
    Row(.get, "/forums/F/icon", public: "2222222222", members: "4422222222", private: "4444422222"),
    Row(
      .patch, "/forums/F", #"{"description":"x"}"#, public: "1333322332", members: "1433322332", private: "1444422332"),
    Row(.patch, "/forums/F", #"{"locked":true}"#, public: "1333222322", members: "1433222322", private: "1444422322"),
    Row(.patch, "/forums/F", #"{"position":3}"#, public: "1333322333", members: "1433322333", private: "1444422333"),
    Row(.delete, "/forums/F", public: "1333322332", members: "1433322332", private: "1444422332"),
    Row(.get, "/forums/F/members", public: "2222222222", members: "4422222222", private: "4444422222"),
    Row(.put, "/forums/F/members/me", public: "1322222222", members: "1422222222", private: "1444422222"),
    Row(
      .put, "/forums/F/members/me", #"{"role":"admin"}"#, public: "1333322332", members: "1433322332",
      private: "1444422332"),
    // A guest does not see these users.
    Row(.put, "/forums/F/members/@zoe", public: "1433322332", members: "1433322332", private: "1444422332"),
    Row(.delete, "/forums/F/members/@zita", public: "1433322332", members: "1433322332", private: "1444422332"),
    Row(.delete, "/forums/F/members/me", public: "1222222222", members: "1222222222", private: "1222222222"),
    Row(.get, "/forums/F/conversations", public: "2222222222", members: "4422222222", private: "4444433222"),
    Row(
      .post, "/forums/F/conversations", #"{"title":"x"}"#, public: "1322222222", members: "1422222222",
      private: "1444433222"),
    // Fay started the topic.
    Row(
      .patch, "/conversations/T", #"{"title":"x"}"#, public: "1333222222", members: "1433222222", private: "1444444222"),
    Row(
      .patch, "/conversations/T", #"{"pinned":true}"#, public: "1333222322", members: "1433222322",
      private: "1444444322"),
  ]

  @Test(arguments: Visibility.allCases)
  func `permissions of each forum endpoint`(visibility: Visibility) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      for name in ["fay", "finn", "fred", "zoe", "zita"] { try await village.addUser(name) }
      for row in Self.rows {
        var answers = ""
        for caller in Self.callers {
          let (forum, topic) = try await village.plant(visibility)
          let path = row.path.replacing("/F", with: "/\(forum)").replacing("/T", with: "/\(topic)")
          let answer = try await village.send(row.method, path, as: caller, Array(row.body.utf8))
          answers += [401, 403, 404].contains(answer.status) ? "\(answer.status % 10)" : "\(answer.status / 100)"
        }
        #expect(answers == row.answers[visibility], "\(row.method.name) \(row.path) \(row.body)")
      }
    }
  }

  @Test(arguments: Visibility.allCases)
  func `the list has exactly the readable forums`(visibility: Visibility) async throws {
    try await Village.open(.inMemory) { village in
      try await village.addUser("alma", .admin)
      for name in ["fay", "finn", "fred"] { try await village.addUser(name) }
      let forum = try await village.plant(visibility).forum
      for caller in Self.callers {
        let isThere = try await village.request(.get, "/forums/\(forum)", as: caller).status == 200
        for list in ["/forums", "/forums?query=For"] {
          let found = try await village.request(.get, list, as: caller)
          #expect(found.texts("data", "id") == (isThere ? [forum] : []), "\(caller ?? "nobody") \(list)")
        }
      }
    }
  }
}

extension Village {
  /// A forum with fred as admin, finn as moderator and fay as member; fay started a topic.
  fileprivate func plant(_ visibility: Visibility) async throws -> (forum: String, topic: String) {
    let (fred, finn, fay) = (userID("fred"), userID("finn"), userID("fay"))
    return try await community.store.write { tx throws(Refusal) in
      let forum = try tx.add(ForumDraft(title: "forum \(tx.latestMessageID)", visibility: visibility), by: fred)
      _ = try tx.setMember(finn, .moderator, of: forum.id, by: fred)
      _ = try tx.setMember(fay, .member, of: forum.id, by: fred)
      return (forum.id.description, try tx.addTopic("topic", in: forum.id, by: fay).description)
    }
  }

  func userID(_ name: String) -> ID<User> { ID(Int(id(name)) ?? 0) }
}
