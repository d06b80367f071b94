public import ParleyJSON

/// Somebody who said that they may be found, by the address that found them.
public struct Discovered: Sendable, Hashable {
  /// As the asker wrote it.
  public let address: String
  public let account: Account

  public init(address: String, account: Account) {
    self.address = address
    self.account = account
  }
}

extension Discovered: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("address", address)
      json.field("user", account)
    }
  }
}

extension Discovered: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(address: try object.string("address"), account: try object.read("user"))
  }
}
