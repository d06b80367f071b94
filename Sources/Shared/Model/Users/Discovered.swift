public import ParleyJSON

/// Discoverable user, with the address that matched.
public struct Discovered: Sendable, Hashable {
  /// The address as sent in the request.
  public let address: String
  /// The public members of the user with this address.
  public let user: UserSummary

  /// A match of an address and a user.
  public init(address: String, user: UserSummary) {
    self.address = address
    self.user = user
  }
}

extension Discovered: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("address", address)
      json.field("user", user)
    }
  }
}

extension Discovered: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(address: try object.string("address"), user: try object.read("user"))
  }
}
