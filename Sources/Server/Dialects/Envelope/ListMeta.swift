// Answers of App.net and pnut: `{"meta": {"code": 200, …}, "data": …}`.

import ParleyJSON
import ParleyWire
import Web

/// The members of `meta` for a page of a list.
struct ListMeta {
  /// Whether the list goes on in the direction of the page. Never with an empty page: clients would ask for ever.
  var more = false
  var lowest: Int?
  var highest: Int?

  fileprivate func writeMembers(to json: inout JSONWriter) {
    json.field("more", more)
    guard let lowest, let highest else { return }
    json.field("min_id", String(lowest))
    json.field("max_id", String(highest))
  }
}

extension Response {
  /// - Parameter meta: writes further members of `meta`.
  static func envelope(
    _ data: some JSONWritable, _ status: Status = .ok, page: ListMeta? = nil,
    meta: (inout JSONWriter) -> Void = { _ in }
  ) -> Response {
    var json = JSONWriter()
    json.object { json in
      json.object("meta") { json in
        json.field("code", status.code)
        page?.writeMembers(to: &json)
        meta(&json)
      }
      json.field("data", data)
    }
    return .envelope(json, status)
  }

  static func envelope(_ json: JSONWriter, _ status: Status) -> Response {
    var response = Response.json(json.bytes, status)
    response.fields.add("Cache-Control", "no-store")
    return response
  }
}

extension Response {
  /// Repeats the fields of the rate limit under the names that clients know.
  mutating func addQuotaCopies() {
    let copies = [
      ("X-RateLimit-Limit", fields["ratelimit-limit"]), ("X-RateLimit-Remaining", fields["ratelimit-remaining"]),
      ("X-RateLimit-Reset", fields["ratelimit-reset"]),
    ]
    for (name, value) in copies {
      if let value { fields.add(name, value) }
    }
  }
}
