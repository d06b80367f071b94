import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Storage
import Web

extension Pnut {
  static func addMarkers(to table: inout Table) throws {
    for path in ["/markers", "/posts/markers"] {
      try table.on(.post, path, as: "PUT /timeline/read") { try await $0.setMarkers() }
    }
  }
}

/// The position of the caller in a list; the name alone before the first move.
struct PnutMarker: JSONWritable {
  let name: String
  let marker: DialectMarker?

  /// The most in one request.
  static let most = 10

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("name", name)
      guard let marker else { return }
      json.field("id", marker.message)
      json.field("last_read_id", marker.lastRead)
      json.field("percentage", marker.percentage)
      json.field("updated_at", PnutCall.time(marker.updatedAt))
      json.field("version", String(marker.version))
    }
  }
}

extension MarkedList {
  /// Nil for a name that no list has.
  init?(pnut name: String) {
    switch name {
    case "personal", "my_stream": self = .timeline(name: "personal")
    case "global", "mentions", "unified": self = .other(name: name)
    default:
      let prefix = "channel:"
      guard name.hasPrefix(prefix), let id = ID<Conversation>(String(name.dropFirst(prefix.count))) else { return nil }
      self = .channel(id)
    }
  }
}

extension PnutCall {
  func marker(of list: MarkedList) throws -> PnutMarker {
    PnutMarker(name: list.name, marker: try view.dialectMarker(of: list, for: caller))
  }

  /// Moves markers: one object, or a list of them.
  func setMarkers() async throws -> Response {
    guard let root = try await received.list() else { return .envelope(try await setMarker(try await body())) }
    let items = try root.array()
    guard items.count <= PnutMarker.most else { throw Refusal.invalid("markers", .tooMany(limit: PnutMarker.most)) }
    var markers: [PnutMarker] = []
    for item in items {
      if !markers.isEmpty { try context.count(.writing) }
      markers.append(try await setMarker(LenientBody(try item.object())))
    }
    return .envelope(markers)
  }

  private func setMarker(_ body: LenientBody) async throws -> PnutMarker {
    guard let list = try body.text("name").flatMap({ MarkedList(pnut: $0) }) else {
      throw Refusal.invalid("name", .unknown)
    }
    if case .channel(let id) = list { _ = try channel(id) }
    guard let id = try body.text("id").flatMap({ ID<Message>($0) }) else { throw Refusal.invalid("id", .invalid) }
    let percentage = try body.number("percentage") ?? 0
    guard (0...100).contains(percentage) else { throw Refusal.invalid("percentage", .outOfRange(0...100)) }
    let resets = try body.flag("reset_read_id") ?? query.flag("reset_read_id") ?? false
    let change = MarkerChange(list, id, percentage: percentage, resets: resets)
    return PnutMarker(name: list.name, marker: try await community.moveDialectMarker(change, by: caller))
  }
}
