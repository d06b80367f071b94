import API
import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension MorMessagesCall {
  private var origin: String { context.server.origin }

  /// The forum in the path. Throws `notFound` for one that the caller may not see.
  func forum(named name: String) throws(Refusal) -> Forum {
    guard let id: ID<Forum> = try view.id(.forum, named: name) else { throw .notFound }
    return try view.getForum(id, for: caller).forum
  }

  /// The visible forums, last change first.
  func listForums() async throws -> Response {
    let range = try range()
    let forums = try await context.community.listForums(
      changedAfter: range.greaterThan?.microseconds, offset: range.offset, limit: range.size, for: caller)
    // A forum may have changed since it was found.
    let listed = try view.morMessages(forums, at: origin, for: caller).sorted { $0.changedAt > $1.changedAt }
    return .morMessages(list: listed)
  }

  /// Creates a forum for all users of the site.
  func createForum() async throws -> Response {
    var body = try await body()
    if let id = try body.text("id") {
      throw MorMessagesFailure(.conflict, "cannot create forum with preset id(\(id)); try excluding id")
    }
    guard let title = try body.text("title") else { throw Refusal.invalid("title", .missing) }
    var draft = ForumDraft(title: title, visibility: .members)
    if let about = try body.text("description") { draft.fields.set(\.about, to: about) }
    if let picture = try body.imageURL() { draft.fields.set(\.iconURL, to: picture) }
    let uuid = try body.suppliedUUID()
    if let address = try view.newIconURL(of: draft, by: caller) {
      try await context.requirePicture(at: address, "imageUrl")
    }
    let created: CreatedForum
    do throws(Refusal) {
      created = try await context.community.createForum(draft, named: uuid, by: caller)
    } catch {
      guard case .taken(let field) = error else { throw error }
      throw MorMessagesFailure(.conflict, "forum already exists for \(field) \(field == "title" ? title : uuid ?? "")")
    }
    return try .morMessages(one: created.forum.forum, self, .created)
  }

  /// An unknown forum is an empty answer.
  func getForum() throws -> Response {
    do throws(Refusal) {
      return try .morMessages(one: try forum(named: parameter("uuid")), self)
    } catch {
      guard error == .notFound else { throw error }
      return Response(.noContent)
    }
  }

  /// Changes the members that the body has.
  func updateForum() async throws -> Response {
    var body = try await body()
    let name = parameter("uuid")
    guard try body.text("uuid")?.lowercased() == name.lowercased() else { throw MorMessagesFailure.mismatch }
    let id = try forum(named: name).id
    var change = ForumChange()
    if let title = try body.text("title") { change.fields.set(\.title, to: title) }
    if body.has("description") { change.fields.set(\.about, to: try body.text("description") ?? "") }
    // An uploaded icon comes before the address, and its own address comes back from clients.
    let picture = try body.imageURL()
    if body.has("imageUrl"), picture != "\(origin)/api/v1/forums/\(id)/icon" {
      change.fields.set(\.iconURL, to: picture)
    }
    if let address = try view.newIconURL(of: change, in: id, by: caller) {
      try await context.requirePicture(at: address, "imageUrl")
    }
    let changed: ForumView
    do throws(Refusal) {
      changed = try await context.community.updateForum(id, change, by: caller)
    } catch {
      guard case .taken = error else { throw error }
      throw MorMessagesFailure(.conflict, "forum already exists for title \(change.fields[\.title] ?? "")")
    }
    return try .morMessages(one: changed.forum, self)
  }

  func deleteForum() async throws -> Response {
    _ = try await context.community.deleteForum(try forum(named: parameter("uuid")).id, by: caller)
    return Response(.noContent)
  }
}

extension Response {
  fileprivate static func morMessages(
    one forum: Forum, _ call: MorMessagesCall, _ status: Status = .ok
  ) throws(Refusal) -> Response {
    var json = JSONWriter()
    for seen in try call.view.morMessages([forum], at: call.context.server.origin, for: call.caller) {
      json.value(seen)
    }
    return .morMessages(json, status)
  }

  /// A bare array.
  static func morMessages(list: [some JSONWritable]) -> Response {
    var json = JSONWriter()
    json.value(list)
    return .morMessages(json)
  }
}
