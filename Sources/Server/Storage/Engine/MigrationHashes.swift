import SQLite

/// The migrations that this program knows. Made by `make migrations`; what has been released never changes.
enum MigrationHashes {
  static let all: [Migration] = [
    Migration(
      number: 1, name: "place",
      hash: "28e3ef60de5a534eda182fceb5bd5002f9827606142949598ff50d130fd92989"),
    Migration(
      number: 2, name: "people",
      hash: "86283bed1aceda2493c335c9f808a4095e138fcd1a5eee86858c45822106de36"),
    Migration(
      number: 3, name: "places_to_talk",
      hash: "968e2d154ee0ead9ead6889c8539bac960edb219838598d108bf6417e8e65f40"),
    Migration(
      number: 4, name: "messages",
      hash: "99f8c7e6a795b9abe8b29d858034c51f4ef6872b5e2180b57f86d2442cbda70b"),
    Migration(
      number: 5, name: "files",
      hash: "22293d206017e14e3a13656b904987ec36021f7e572227403eaff6062c7e0614"),
    Migration(
      number: 6, name: "inbox",
      hash: "c47ff78b926bb31a2e32a98737f0fa10dbdfb0e658e94a131136e9cfe4a9408d"),
    Migration(
      number: 7, name: "events",
      hash: "e1e40d44f9484363c6f48cf80faf33bded9542b6ce9ccd172f59859487ce0049"),
    Migration(
      number: 8, name: "search",
      hash: "72f58fa7e5c7425aae06e486a3dadf61987b2a1745961a1936263a60136296f5"),
  ]
}
