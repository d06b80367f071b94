import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension Response {
  /// One object. What the community says is for who asked, and may be another in a moment.
  static func object(_ status: Status = .ok, _ members: (inout JSONWriter) -> Void) -> Response {
    var json = JSONWriter()
    json.object(members)
    return own(json, status)
  }

  /// One thing, bare.
  static func one(_ thing: some JSONWritable, _ status: Status = .ok) -> Response {
    var json = JSONWriter()
    json.value(thing)
    return own(json, status)
  }

  /// Many things: a page, whether there is more, and where it goes on.
  static func page(_ things: [some JSONWritable], next: String?) -> Response {
    object { json in
      json.field("data", things)
      json.field("more", next != nil)
      json.field("next", next)
    }
  }

  /// A page out of one thing more than fits, if there are more; `next` names its last.
  static func page<Thing: JSONWritable>(
    _ found: [Thing], limit: Int, next: (Thing) -> String?
  ) -> Response {
    page(Array(found.prefix(limit)), next: found.count > limit ? next(found[limit - 1]) : nil)
  }

  /// What was written already.
  static func written(_ json: JSONWriter) -> Response { own(json, .ok) }

  /// With a tag by which a client can ask whether it has changed.
  func tagged(_ tag: String) -> Response {
    var response = self
    response.fields.add("ETag", "\"\(tag)\"")
    return response
  }

  private static func own(_ json: JSONWriter, _ status: Status) -> Response {
    var response = Response.json(json.bytes, status)
    response.fields.add("Cache-Control", "private, no-cache")
    return response
  }
}
