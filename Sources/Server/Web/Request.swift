public import ParleyWire

/// A request of a client.
public struct Request {
  public var head: RequestHead
  public var body: RequestBody
  /// The values of the route's `{names}`, percent-decoded.
  public var parameters: PathParameters

  public init(head: RequestHead, body: RequestBody, parameters: PathParameters = PathParameters()) {
    self.head = head
    self.body = body
    self.parameters = parameters
  }

  public var method: Method { head.method }
  public var fields: Fields { head.fields }
  public var path: String { head.target.path }

  func with(_ parameters: PathParameters) -> Request {
    Request(head: head, body: body, parameters: parameters)
  }
}

/// The variable parts of a route's path. There are one or two, so a list beats a dictionary.
public struct PathParameters: Sendable {
  var pairs: [(name: String, value: String)] = []

  public init() {}

  var isEmpty: Bool { pairs.isEmpty }

  public subscript(_ name: String) -> String? {
    pairs.first { $0.name == name }?.value
  }
}
