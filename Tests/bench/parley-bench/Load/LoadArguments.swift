import ParleyCrypto
import ParleyNetworking
import ParleyWire

/// The options of a load.
struct LoadArguments: Sendable {
  enum Scene: String, Sendable, CaseIterable {
    case http, websocket, broadcast, room, resume, idle, tls
  }

  let scene: Scene
  let target: LoadTarget
  let connections: Int
  let loops: Int
  let seconds: Double
  let isJSON: Bool
  // Requests.
  let depth: Int
  let method: Method
  let fields: [(name: String, value: String)]
  let body: [UInt8]
  // Messages.
  let size: Int
  let isBinary: Bool
  let inFlight: Int
  let window: Int
  let messages: Int?
  // Rooms.
  let roomProtocol: RoomProtocol?
  let room: String
  let events: Int
  // Idle connections.
  let steps: [Int]
  let server: Int?
  let hold: Double

  private static let options: Set = [
    "connections", "subscribers", "loops", "seconds", "pipeline", "method", "header", "body", "size", "in-flight",
    "window", "messages", "as", "room", "events", "step", "pid", "hold", "fingerprint", "certificate",
  ]

  init(_ words: [String]) throws {
    let arguments = try Arguments(words, options: Self.options, flags: ["json", "binary"])
    guard let name = arguments.values.first, let scene = Scene(rawValue: name) else {
      throw UsageError("load needs a scene: \(Scene.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    self.scene = scene
    target = try LoadTarget(arguments.values.dropFirst().map { $0 }, trust: Self.trust(arguments))
    let steps = try Self.steps(arguments)
    let countOption = arguments.text("subscribers") == nil ? "connections" : "subscribers"
    connections = try arguments.integer(
      countOption, in: 1...1_000_000, or: steps.last ?? Self.defaultConnections(scene))
    self.steps = steps.isEmpty ? [connections] : steps
    loops = try arguments.integer("loops", in: 1...64, or: 1)
    seconds = try arguments.seconds("seconds") ?? 3
    hold = try arguments.seconds("hold") ?? 0
    isJSON = arguments.has("json")
    depth = try arguments.integer("pipeline", in: 1...1_024, or: 1)
    method = Method(arguments.text("method") ?? "GET")
    fields = try arguments.all("header").map { line throws(UsageError) in try Self.field(line) }
    body = Array((arguments.text("body") ?? "").utf8)
    size = try arguments.integer("size", in: MessageNumber.length...(1 << 24), or: 100)
    isBinary = arguments.has("binary")
    inFlight = try arguments.integer("in-flight", in: 1...1_024, or: 1)
    window = try arguments.integer("window", in: 1...4_096, or: 16)
    messages = try arguments.integer("messages", in: 1...1_000_000_000)
    roomProtocol = try arguments.text("as").map { name throws(UsageError) in
      guard let roomProtocol = RoomProtocol(rawValue: name) else {
        throw UsageError("--as is \(RoomProtocol.allCases.map(\.rawValue).joined(separator: ", ")), not \(name).")
      }
      return roomProtocol
    }
    room = arguments.text("room") ?? ""
    events = try arguments.integer("events", in: 1...1_000_000, or: 1_000)
    server = try arguments.integer("pid", in: 1...Int(Int32.max))
  }

  private static func defaultConnections(_ scene: Scene) -> Int {
    switch scene {
    case .http, .websocket: 64
    case .broadcast: 500
    case .room: 1_000
    case .resume: 100
    case .idle: 10_000
    case .tls: 16
    }
  }

  private static func steps(_ arguments: Arguments) throws(UsageError) -> [Int] {
    guard let text = arguments.text("step") else { return [] }
    let steps = text.split(separator: ",").compactMap { Int($0) }
    guard !steps.isEmpty, steps == Set(steps).sorted(), steps.allSatisfy({ $0 > 0 }),
      steps.count == text.split(separator: ",").count
    else { throw UsageError("--step is a list of growing numbers such as 1000,5000,10000, not \(text).") }
    return steps
  }

  private static func field(_ line: String) throws(UsageError) -> (String, String) {
    guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
      throw UsageError("--header is 'Name: value', not \(line).")
    }
    let value = line[line.index(after: colon)...].drop { $0 == " " }
    return (String(line[..<colon]), String(value))
  }

  /// A certificate pinned by its digest or file, or the system's roots.
  private static func trust(_ arguments: Arguments) throws -> TLSConfiguration.Trust {
    switch (arguments.text("fingerprint"), arguments.text("certificate")) {
    case (nil, nil):
      return .system
    case (let text?, nil):
      guard let digest = Hex.bytes(text.filter { $0 != ":" }), digest.count == 32 else {
        throw UsageError("--fingerprint is a SHA-256 in hexadecimal digits.")
      }
      return .fingerprint(digest)
    case (nil, let path?):
      guard let digest = Certificate.list(fromPEM: try FileBytes.read(path)).first?.fingerprint else {
        throw UsageError("--certificate is a PEM file; \(path) contains no certificate.")
      }
      return .fingerprint(digest)
    case (.some, .some):
      throw UsageError("--fingerprint and --certificate are mutually exclusive.")
    }
  }
}
