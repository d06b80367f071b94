public import ParleyWire

/// A request of a client. A class: handlers pass it on without a copy of its fields.
public final class Request {
  public let head: RequestHead
  public let body: RequestBody
  /// The values of the route's `{names}`, percent-decoded. The application sets them before it calls the route's handler.
  public internal(set) var parameters: PathParameters

  public init(head: RequestHead, body: RequestBody, parameters: PathParameters = PathParameters()) {
    self.head = head
    self.body = body
    self.parameters = parameters
  }

  public var method: Method { head.method }
  public var fields: Fields { head.fields }
  public var path: String { head.target.path }

  /// The same request for another path.
  public func with(path: String) -> Request {
    var head = head
    head.target = Target(path: path)
    return Request(head: head, body: body, parameters: parameters)
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
