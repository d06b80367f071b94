import ParleyJSON
import ParleyModel
import ParleyWire
import Web

extension Response {
  /// A JSON object, private to the caller and revalidated with each request.
  static func object(_ status: Status = .ok, _ members: (inout JSONWriter) -> Void) -> Response {
    var json = JSONWriter()
    json.object(members)
    return own(json, status)
  }

  /// One value without an envelope.
  static func one(_ thing: some JSONWritable, _ status: Status = .ok) -> Response {
    var json = JSONWriter()
    json.value(thing)
    return own(json, status)
  }

  /// A page: its values, whether there are more, and the cursor of the next page.
  static func page(_ things: [some JSONWritable], next: String?) -> Response {
    object { json in
      json.field("data", things)
      json.field("more", next != nil)
      json.field("next", next)
    }
  }

  /// A page from `limit + 1` values, if there are more. `next` returns the cursor of the page's last value.
  static func page<Thing: JSONWritable>(
    _ found: [Thing], limit: Int, next: (Thing) -> String?
  ) -> Response {
    page(Array(found.prefix(limit)), next: found.count > limit ? next(found[limit - 1]) : nil)
  }

  /// An already written JSON document.
  static func written(_ json: JSONWriter) -> Response { own(json, .ok) }

  /// The response with an `ETag` for conditional requests.
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
