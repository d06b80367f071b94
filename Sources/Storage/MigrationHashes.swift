import SQLite

/// The migrations that this program knows. Made by `make migrations`; what has been released never changes.
enum MigrationHashes {
  static let all: [Migration] = [
    Migration(
      number: 1, name: "place",
      hash: "9cf8f59b5d3c0a84a1c25fa8fd482606e95d5d245239c466cc8a17332af92fde"),
    Migration(
      number: 2, name: "people",
      hash: "7fbe2014f8e4b199885b54b3d878200d8fb7ad9f2931ad29ceb71e2a9dd8cf84"),
    Migration(
      number: 3, name: "places_to_talk",
      hash: "4b945746ec57e7bbe37d6e12c858adb0d0bcd5acc594c53923115e006e737dbb"),
    Migration(
      number: 4, name: "messages",
      hash: "730265db24ea2654ac5099d91a351c1d587fcaf2c1147ecc541f78ebffc4afe3"),
    Migration(
      number: 5, name: "files",
      hash: "063722b836fa447fd1c355bbcfb9cd3cfa8724c9601a6f4ca40aa2b2a698f0d6"),
    Migration(
      number: 6, name: "inbox",
      hash: "75acd7997fc9eb45622b916219ff1eb483343f78ba69ce667a0510e7da06d4ab"),
    Migration(
      number: 7, name: "events",
      hash: "e1e40d44f9484363c6f48cf80faf33bded9542b6ce9ccd172f59859487ce0049"),
    Migration(
      number: 8, name: "search",
      hash: "45ef8a39a64e5fbb649e03d15fb47e1a9f7269200301c62da45e36b5799a2ae8"),
  ]
}
