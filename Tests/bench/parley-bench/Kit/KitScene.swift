import ParleyJSON
import ParleyKit
import ParleyModel
import ParleyNetworking
import ParleyTransport

/// What a client does on its device: in a file that `plant` has made, or that it fills from a server.
struct KitScene {
  private enum Name: String, CaseIterable {
    case plant, open, search, apply, sync
  }

  private let name: Name
  private let place: String
  private let arguments: Arguments
  private let seconds: Double

  init(_ words: [String]) throws {
    arguments = try Arguments(
      words, options: ["messages", "query", "seconds", "token", "room", "into"], flags: ["json"])
    guard arguments.values.count == 2, let name = Name(rawValue: arguments.values[0]) else {
      let names = Name.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("kit needs what to do, one of \(names), and a file or a server's address.")
    }
    self.name = name
    place = arguments.values[1]
    seconds = try arguments.seconds("seconds") ?? 3
  }

  func run() async throws {
    switch name {
    case .plant:
      try await KitCopy.plant(place, messages: try arguments.integer("messages", in: 100...10_000_000, or: 10_000))
    case .open: report(try await KitCopy.open(place, seconds: seconds))
    case .search:
      report(try await KitCopy(place).search(arguments.text("query") ?? "the", seconds: seconds))
    case .apply:
      let (times, events, spent) = try await KitCopy.apply(place, seconds: seconds)
      report(times, count: events, in: spent)
    case .sync: try await sync()
    }
  }

  /// All messages of a conversation, from a server into a new file.
  private func sync() async throws {
    guard let address = ServerAddress(place), let token = arguments.text("token"), let file = arguments.text("into"),
      let room = arguments.text("room").flatMap({ ID<Conversation>($0) })
    else { throw UsageError("sync needs a server's address, --token, --room and --into.") }
    let client = Client(address, over: try NetworkTransport(), token: token)
    let parley = try Parley(
      client, clock: Outbox.Clock(now: { Clock.wall() / 1_000_000 }),
      open: { file in throw UsageError("\(file.path) is not sent.") }
    ) { try DiskStore(file) }
    var times = Histogram()
    let start = Clock.monotonic()
    try await parley.sync.catchUp()
    try await parley.sync.fetchAll([room])
    let time = Clock.monotonic() - start
    times.record(time)
    let held = await parley.cache.history(of: room).held.all.map(\.count).reduce(0, +)
    report(times, count: held, in: Double(time) / 1e9)
  }

  /// Times are of what was repeated, which may be more than one operation at once.
  private func report(_ times: Histogram, count: Int? = nil, in spent: Double? = nil) {
    times.report(operations: count, in: spent ?? seconds, asJSON: arguments.has("json"))
  }
}
