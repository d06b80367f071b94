import ParleyJSON
import ParleyNetworking

/// Store benchmarks without sockets, in a data folder that `plant` created.
struct StoreScene {
  private enum Name: String, CaseIterable {
    case plant, post, page, search, inbox, open
  }

  private let name: Name
  private let folder: String
  private let arguments: Arguments
  private let seconds: Double

  init(_ words: [String]) throws {
    arguments = try Arguments(
      words, options: ["messages", "forums", "crowd", "writers", "from", "query", "seconds"],
      flags: ["small", "hashtag", "json"])
    guard arguments.values.count == 2, let name = Name(rawValue: arguments.values[0]) else {
      let names = Name.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("store needs an operation, one of \(names), and a folder.")
    }
    self.name = name
    folder = arguments.values[1]
    seconds = try arguments.seconds("seconds") ?? 3
  }

  func run() async throws {
    switch name {
    case .plant:
      try await BenchStore.plant(
        folder, messages: try arguments.integer("messages", in: 100...10_000_000, or: 10_000),
        forums: try arguments.integer("forums", in: 0...1_000_000, or: 0),
        crowd: try arguments.integer("crowd", in: 0...100_000, or: 0))
    case .open:
      let start = Clock.monotonic()
      report(try await BenchStore.open(folder, seconds: seconds), since: start)
    case .post, .page, .search, .inbox:
      let bench = try BenchStore(folder)
      let start = Clock.monotonic()
      report(try await measure(bench), since: start)
      await bench.store.close()
    }
  }

  private func measure(_ bench: BenchStore) async throws -> Histogram {
    switch name {
    case .page:
      guard let position = BenchStore.PagePosition(rawValue: arguments.text("from") ?? "newest") else {
        throw UsageError("--from is newest or middle.")
      }
      return try bench.page(position, seconds: seconds)
    case .search:
      let conversations = arguments.has("small") ? BenchStore.small : [BenchStore.long] + BenchStore.small
      let query = arguments.has("hashtag") ? nil : arguments.text("query") ?? "the"
      return try bench.search(query, in: conversations, seconds: seconds)
    case .inbox:
      return try bench.inbox(seconds: seconds)
    case .post, .plant, .open:
      let writers = try arguments.integer("writers", in: 1...4_096, or: 64)
      return try await bench.post(writers: writers, seconds: seconds)
    }
  }

  private func report(_ times: Histogram, since start: Int64) {
    times.report(in: Double(Clock.monotonic() - start) / 1e9, asJSON: arguments.has("json"))
  }
}
