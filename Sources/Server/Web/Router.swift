// A tree of path segments. A route is found in one walk; a literal segment beats a `{name}`, which beats the rest of
// the path (`{name...}`). Where a path is known but not for this method, the answer names the methods it has.
//
// A slash at the end counts as an empty last segment: `/forums` and `/forums/` are two paths. A variable and a rest stand
// for something, never for nothing. Escapes are decoded before anything is compared, so a path has one meaning here
// however it is spelled.

public import ParleyWire

/// Answers one kind of request. It runs on the loop of the connection, and may leave it and come back.
public typealias Handler = @Sendable (Request, Context) async throws(Problem) -> Response

public struct Route: Sendable {
  public let handler: Handler
  /// The largest body that this route takes; nil: the server's usual limit.
  public let bodyLimit: Int?
}

public struct Router: Sendable {
  private final class Node: Sendable {
    let literals: [String: Node]
    let variable: Node?
    let variableName: String
    let rest: Endpoint?
    let restName: String
    let endpoint: Endpoint?

    init(_ draft: Draft) {
      literals = draft.literals.mapValues { Node($0) }
      variable = draft.variable.map { Node($0) }
      variableName = draft.variableName
      rest = draft.rest
      restName = draft.restName
      endpoint = draft.endpoint
    }
  }

  /// A node while routes are added.
  fileprivate final class Draft {
    var literals: [String: Draft] = [:]
    var variable: Draft?
    var variableName = ""
    var rest: Endpoint?
    var restName = ""
    var endpoint: Endpoint?
  }

  /// What one path does, by method: few, so a list beats a dictionary.
  fileprivate struct Endpoint: Sendable {
    private var routes: [(method: Method, route: Route)] = []

    mutating func add(_ route: Route, for method: Method, at pattern: String) {
      precondition(self[method] == nil, "two routes for \(method.name) \(pattern)")
      routes.append((method, route))
    }

    subscript(_ method: Method) -> Route? {
      routes.first { $0.method == method }?.route
    }

    /// The methods for an Allow field. HEAD comes with GET, and OPTIONS with all.
    var allowed: String {
      var names = Set(routes.map(\.method.name))
      if names.contains("GET") { names.insert("HEAD") }
      names.insert("OPTIONS")
      return names.sorted().joined(separator: ", ")
    }
  }

  public enum Match {
    case route(Route, PathParameters)
    /// The path has routes, but none for this method.
    case otherMethods(allowed: String)
    case none
  }

  private let root: Node
  /// Paths without variables, found without a walk when they come as they are written here.
  private let literal: [String: Endpoint]

  public init(_ build: (inout Builder) -> Void) {
    var builder = Builder()
    build(&builder)
    root = Node(builder.root)
    literal = builder.literal
  }

  public struct Builder {
    fileprivate let root = Draft()
    fileprivate var literal: [String: Endpoint] = [:]

    /// Adds a route. `pattern` is a path; `{name}` stands for one segment, `{name...}` at its end for all that follow.
    public mutating func on(
      _ method: Method, _ pattern: String, bodyLimit: Int? = nil, _ handler: @escaping Handler
    ) {
      let route = Route(handler: handler, bodyLimit: bodyLimit)
      precondition(pattern.hasPrefix("/"), "\(pattern) is no path")
      if !pattern.contains("{") { literal[pattern, default: Endpoint()].add(route, for: method, at: pattern) }
      var node = root
      for segment in pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init) {
        guard segment.hasPrefix("{"), segment.hasSuffix("}") else {
          let next = node.literals[segment] ?? Draft()
          node.literals[segment] = next
          node = next
          continue
        }
        let name = String(segment.dropFirst().dropLast())
        if name.hasSuffix("...") {
          precondition(pattern.hasSuffix(segment), "the rest is not at the end of \(pattern)")
          node.rest = node.rest ?? Endpoint()
          node.rest?.add(route, for: method, at: pattern)
          node.restName = Self.same(node.restName, String(name.dropLast(3)), in: pattern)
          return
        }
        let next = node.variable ?? Draft()
        node.variable = next
        node.variableName = Self.same(node.variableName, name, in: pattern)
        node = next
      }
      node.endpoint = node.endpoint ?? Endpoint()
      node.endpoint?.add(route, for: method, at: pattern)
    }

    /// A variable is stored under its place's name, so routes that share the place have to agree on it.
    private static func same(_ known: String, _ name: String, in pattern: String) -> String {
      precondition(known.isEmpty || known == name, "{\(name)} of \(pattern) is called {\(known)} elsewhere")
      return name
    }
  }

  public func match(_ method: Method, _ path: String) -> Match {
    if let endpoint = literal[path] { return choose(endpoint, method, PathParameters()) }
    guard mayStart(path) else { return .none }
    let url: URLPath
    do { url = try URLPath(path) } catch { return .none }
    let segments = url.endsInSlash ? url.segments + [""] : url.segments
    var parameters = PathParameters()
    guard let endpoint = walk(root, segments[...], &parameters) else { return .none }
    return choose(endpoint, method, parameters)
  }

  /// Whether some route begins like this path; most files' paths are told apart by that alone.
  private func mayStart(_ path: String) -> Bool {
    guard root.variable == nil, root.rest == nil else { return true }
    let first = path.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") }
    return first.contains(UInt8(ascii: "%")) || root.literals[String(Substring(first))] != nil
  }

  private func choose(_ endpoint: Endpoint, _ method: Method, _ parameters: PathParameters) -> Match {
    if let route = endpoint[method] { return .route(route, parameters) }
    if method == .head, let route = endpoint[.get] { return .route(route, parameters) }
    return .otherMethods(allowed: endpoint.allowed)
  }

  private func walk(_ node: Node, _ segments: ArraySlice<String>, _ parameters: inout PathParameters) -> Endpoint? {
    guard let segment = segments.first else { return node.endpoint }
    if let next = node.literals[segment], let found = walk(next, segments.dropFirst(), &parameters) { return found }
    guard !segment.isEmpty else { return nil }
    if let next = node.variable {
      let count = parameters.pairs.count
      parameters.pairs.append((node.variableName, segment))
      if let found = walk(next, segments.dropFirst(), &parameters) { return found }
      parameters.pairs.removeSubrange(count...)
    }
    guard let rest = node.rest else { return nil }
    parameters.pairs.append((node.restName, segments.joined(separator: "/")))
    return rest
  }
}
