import ParleyModel

/// The people whom the store plants and the loads come as: each has a token, and is in rooms and in small groups.
enum Crowd {
  /// By how many are in them; the first of the crowd are.
  static let rooms: [(id: ID<Conversation>, size: Int)] = [(ID(2_013), 100), (ID(2_014), 1_000), (ID(2_015), 5_000)]
  /// In how many groups each is, and how many are in each.
  static let circles = 20
  private static let firstPerson = 2_100

  static func person(_ place: Int) -> ID<Account> { ID(firstPerson + place) }

  /// As many as there are people, behind them.
  static func circle(_ place: Int, of count: Int) -> ID<Conversation> { ID(firstPerson + count + place) }

  static func session(_ place: Int, of count: Int) -> ID<Session> { ID(firstPerson + 2 * count + place) }

  static func lastID(of count: Int) -> Int { firstPerson + 3 * count }

  static func token(_ place: Int) -> String { "bench-\(place)" }

  static func authorization(_ place: Int) -> (name: String, value: String) {
    (name: "Authorization", value: "Bearer \(token(place))")
  }
}
