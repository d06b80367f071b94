import ParleyModel

/// The users that `store plant --crowd` creates and loads sign in as. Each has a token and is in rooms and small
/// groups.
enum BenchUsers {
  /// The rooms and their sizes. The members of a room are the first users.
  static let rooms: [(id: ID<Conversation>, size: Int)] = [(ID(2_013), 100), (ID(2_014), 1_000), (ID(2_015), 5_000)]
  /// The number of groups per user, and of users per group.
  static let groupsPerUser = 20
  private static let firstUser = 2_100

  static func user(_ index: Int) -> ID<User> { ID(firstUser + index) }

  /// The group of a user: each user has one, and its id follows those of the users.
  static func group(_ index: Int, of count: Int) -> ID<Conversation> { ID(firstUser + count + index) }

  static func session(_ index: Int, of count: Int) -> ID<Session> { ID(firstUser + 2 * count + index) }

  static func lastID(of count: Int) -> Int { firstUser + 3 * count }

  static func token(_ index: Int) -> String { "bench-\(index)" }

  static func authorization(_ index: Int) -> (name: String, value: String) {
    (name: "Authorization", value: "Bearer \(token(index))")
  }
}
