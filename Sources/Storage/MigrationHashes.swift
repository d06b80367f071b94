import SQLite

/// The migrations that this program knows. Made by `make migrations`; what has been released never changes.
enum MigrationHashes {
  static let all: [Migration] = [
    Migration(
      number: 1, name: "place",
      hash: "28e3ef60de5a534eda182fceb5bd5002f9827606142949598ff50d130fd92989"),
    Migration(
      number: 2, name: "people",
      hash: "3759d9e172772912baef33c4dcddd0cf0646af5096a186c7a4229a501ea1b312"),
    Migration(
      number: 3, name: "places_to_talk",
      hash: "4b945746ec57e7bbe37d6e12c858adb0d0bcd5acc594c53923115e006e737dbb"),
    Migration(
      number: 4, name: "messages",
      hash: "dee7bee639347f79dddf39224d879d61d829b001b7a83b041e6461de166d3304"),
    Migration(
      number: 5, name: "files",
      hash: "22293d206017e14e3a13656b904987ec36021f7e572227403eaff6062c7e0614"),
    Migration(
      number: 6, name: "inbox",
      hash: "f031d6804bb92f799cab0066cc40a2012f0cff31f48793c60064442cbecc6667"),
    Migration(
      number: 7, name: "events",
      hash: "e1e40d44f9484363c6f48cf80faf33bded9542b6ce9ccd172f59859487ce0049"),
    Migration(
      number: 8, name: "search",
      hash: "45ef8a39a64e5fbb649e03d15fb47e1a9f7269200301c62da45e36b5799a2ae8"),
  ]
}
