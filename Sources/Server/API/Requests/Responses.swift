import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension Response {
  /// A JSON object, private to the caller and revalidated with each request.
  ///
  /// - Parameter size: its approximate size in bytes, for which room is made at once.
  static func object(
    _ status: Status = .ok, reserving size: Int = 0, _ members: (inout JSONWriter) -> Void
  ) -> Response {
    var json = JSONWriter(reserving: size)
    json.object(members)
    return own(json, status)
  }

  /// One value without an envelope.
  static func one(_ thing: some JSONWritable, _ status: Status = .ok) -> Response {
    var json = JSONWriter()
    json.value(thing)
    return own(json, status)
  }

  /// A page of the requested list.
  static func page(_ page: ListPage<some JSONWritable>, _ context: RequestContext) throws -> Response {
    let list = try context.list()
    return object { json in
      json.field("data", page.items)
      json.positions(next: page.next, previous: page.previous, in: list)
    }
  }

  /// A page of the requested list, with the users and files that it names.
  static func page(
    _ page: ListPage<some JSONWritable & Referencing>, including include: Set<Include>, _ context: RequestContext,
    writeMore: (inout JSONWriter) -> Void = { _ in }
  ) throws -> Response {
    let (list, included) = (try context.list(), try context.included(include, in: page.items))
    return object { json in
      json.field("data", page.items)
      json.positions(next: page.next, previous: page.previous, in: list)
      writeMore(&json)
      if let included { json.field("included", included) }
    }
  }

  /// One value without an envelope, with the users and files that it names.
  static func one(
    _ thing: some JSONWritable & Referencing, including include: Set<Include>, _ context: RequestContext
  ) throws -> Response {
    guard let included = try context.included(include, in: [thing]) else { return .one(thing) }
    return .own(Self.json(thing, included), .ok)
  }

  /// The same with an `ETag`. Included users and files change without the thing, so their content is part of the tag.
  static func one(
    _ thing: some JSONWritable & Referencing, tagged revision: String, including include: Set<Include>,
    _ context: RequestContext
  ) throws -> Response {
    let start = context.community.start
    guard let included = try context.included(include, in: [thing]) else {
      return .one(thing).tagged(revision, since: start)
    }
    let json = Self.json(thing, included)
    return .own(json, .ok).tagged("\(revision)-\(Fingerprint(json.bytes).hexadecimal)", since: start)
  }

  /// The object of `thing` with the member `included`.
  private static func json(_ thing: some JSONWritable, _ included: Included) -> JSONWriter {
    var object = JSONWriter()
    object.value(thing)
    var json = JSONWriter(appendingTo: object.bytes.dropLast() + Array(#","included":"#.utf8))
    json.value(included)
    return JSONWriter(appendingTo: json.bytes + [UInt8(ascii: "}")])
  }

  /// A list of one page.
  static func list(_ things: [some JSONWritable], _ included: Included? = nil) -> Response {
    object { json in json.list(things, included) }
  }

  /// An already written JSON document.
  static func written(_ json: JSONWriter) -> Response { own(json, .ok) }

  /// The response with an `ETag` that identifies its content, for conditional requests.
  func tagged(_ tag: String) -> Response {
    var response = self
    response.fields.add("ETag", "\"\(tag)\"")
    return response
  }

  /// The response with an `ETag` of its revision. Revisions are of one start: a server that continues from an older copy
  /// of its data gives them again.
  func tagged(_ revision: String, since start: String) -> Response { tagged("\(start)-\(revision)") }

  /// The same for content whose bytes may differ (RFC 9110 §8.8.1).
  func weaklyTagged(_ revision: String, since start: String) -> Response {
    var response = self
    response.fields.add("ETag", EntityTag("\(start)-\(revision)", isWeak: true).description)
    return response
  }

  private static func own(_ json: JSONWriter, _ status: Status) -> Response {
    var response = Response.json(json.bytes, status)
    response.fields.add("Cache-Control", "private, no-cache")
    return response
  }
}

extension Context {
  /// Counts bytes that a handler holds until its response is sent. Refuses them above the memory budget.
  func reserve(_ bytes: Int) throws(Problem) {
    guard memory?.reserve(bytes) ?? true else { throw .unavailable }
  }
}

extension RequestContext {
  /// Counts the size of a page with HTML while it waits for its turn and is rendered: its HTML, its JSON, and a message that is
  /// larger than the rest of the page. Refuses it above the memory budget.
  func reserve(for show: MessageOptions) throws(Problem) {
    if show.includesHTML { try server.reserve(3 * ListPage<MessageView>.maxBytes) }
  }

  /// An object with these messages. With much HTML, or beyond the size of a page, it is written on the rendering thread instead
  /// of the event loop.
  /// - Parameter size: that of the messages, if it has no bound.
  func object(
    showing messages: [MessageView], size: Int = 0, _ members: @escaping @Sendable (inout JSONWriter) -> Void
  ) async throws(Refusal) -> Response {
    let html = messages.reduce(0) { $0 + ($1.html?.utf8.count ?? 0) }
    guard html > Self.maxInlineHTML || size > ListPage<MessageView>.maxBytes else {
      return .object(reserving: messages.count * Self.usualMessageSize, members)
    }
    let json = try await community.render(for: caller) {
      var json = JSONWriter()
      json.object(members)
      return json
    }
    return .written(json)
  }

  private static var maxInlineHTML: Int { 65_536 }
  private static var usualMessageSize: Int { 512 }
}

extension JSONWriter {
  /// The members of a list of one page.
  mutating func list(_ things: [some JSONWritable], _ included: Included? = nil) {
    field("data", things)
    null("next")
    null("previous")
    if let included { field("included", included) }
  }
}
