import ParleyJSON
import ParleyKit
import ParleyModel
import ParleyNetworking
import ParleyTransport

/// Client benchmarks with ParleyKit: on a cache that `plant` created or that is fetched from a server.
struct KitScene {
  private enum Name: String, CaseIterable {
    case plant, open, search, apply, sync
  }

  private let name: Name
  private let path: String
  private let arguments: Arguments
  private let seconds: Double

  init(_ words: [String]) throws {
    arguments = try Arguments(
      words, options: ["messages", "query", "seconds", "token", "room", "into"], flags: ["json"])
    guard arguments.values.count == 2, let name = Name(rawValue: arguments.values[0]) else {
      let names = Name.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("kit needs an operation, one of \(names), and a file or server address.")
    }
    self.name = name
    path = arguments.values[1]
    seconds = try arguments.seconds("seconds") ?? 3
  }

  func run() async throws {
    switch name {
    case .plant:
      try await ClientCache.plant(path, messages: try arguments.integer("messages", in: 100...10_000_000, or: 10_000))
    case .open: report(try await ClientCache.open(path, seconds: seconds))
    case .search:
      report(try await ClientCache(path).search(arguments.text("query") ?? "the", seconds: seconds))
    case .apply:
      let (times, events, spent) = try await ClientCache.apply(path, seconds: seconds)
      report(times, count: events, in: spent)
    case .sync: try await sync()
    }
  }

  /// Fetches all messages of a conversation from a server into a new cache.
  private func sync() async throws {
    guard let address = ServerAddress(path), let token = arguments.text("token"), let file = arguments.text("into"),
      let room = arguments.text("room").flatMap({ ID<Conversation>($0) })
    else { throw UsageError("sync needs a server address, --token, --room and --into.") }
    let client = Client(address, over: try NetworkTransport(), token: token)
    let parley = try Parley(
      client, clock: Outbox.Clock(now: { Clock.wall() / 1_000_000 }),
      open: { file in throw UsageError("Unexpected upload of \(file.path).") }
    ) { try DiskStore(file) }
    var times = Histogram()
    let start = Clock.monotonic()
    try await parley.sync.catchUp()
    try await parley.sync.fetchAll([room])
    let time = Clock.monotonic() - start
    times.record(time)
    let count = await parley.cache.history(of: room).cached.all.map(\.count).reduce(0, +)
    report(times, count: count, in: Double(time) / 1e9)
  }

  /// - Parameter count: the number of operations if a recorded time covers several.
  private func report(_ times: Histogram, count: Int? = nil, in spent: Double? = nil) {
    times.report(operations: count, in: spent ?? seconds, asJSON: arguments.has("json"))
  }
}
