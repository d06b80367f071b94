import JSON
import Model
import Web
import Wire

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
  static func page(_ things: [some JSONWritable], more: Bool, next: String?) -> Response {
    object { json in
      json.field("data", things)
      json.field("more", more)
      json.field("next", next)
    }
  }

  private static func own(_ json: JSONWriter, _ status: Status) -> Response {
    var response = Response.json(json.bytes, status)
    response.fields.add("Cache-Control", "private, no-cache")
    return response
  }
}
