import ParleyJSON
import ParleyKit
import ParleyModel

/// The names of the users and files that a page of messages names: `included` of a response to `include=users,files`.
struct IncludedNames {
  var users: [ID<User>: String] = [:]
  var files: [ID<File>: String] = [:]
  static let query = QueryItem("include", "users,files")

  init() {}

  /// - Parameter page: the JSON of the response.
  init(_ page: JSONRaw) throws(ClientFault) {
    do throws(JSONError) {
      var object = try JSONValue(parsing: page.bytes).object()
      guard let value = object.member("included") else { return }
      var included = try value.object()
      for user in try included.member("users")?.array() ?? [] {
        var user = try user.object()
        users[try user.read("id")] = try user.optional("name")
      }
      for file in try included.member("files")?.array() ?? [] {
        var file = try file.object()
        files[try file.read("id")] = try file.string("name")
      }
    } catch {
      throw .invalidResponse("\(error)")
    }
  }
}

extension Request {
  /// The request with the names of users and files in its response.
  func includingNames() -> Request { with(IncludedNames.query.name, IncludedNames.query.value) }
}
