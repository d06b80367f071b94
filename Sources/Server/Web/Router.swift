// A tree of path segments. One walk finds the route. A literal segment has priority over `{name}`, and `{name}` over
// the rest of the path (`{name...}`). A known path without a route for the method returns the allowed methods.
//
// A trailing slash is an empty last segment: `/forums` and `/forums/` are two paths. Variables never match an empty
// segment. Escapes are decoded before the comparison, so all spellings of a path are equal.

public import ParleyWire

/// Handles the requests of a route. It runs on the event loop of the connection, and may suspend.
public typealias Handler = @Sendable (Request, Context) async throws(Problem) -> Response

public struct Route: Sendable {
  public let handler: Handler
  /// The maximum body size; nil uses the default of `Limits`.
  public let bodyLimit: (@Sendable () -> Int)?
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

  /// A mutable node, used while routes are added.
  fileprivate final class Draft {
    var literals: [String: Draft] = [:]
    var variable: Draft?
    var variableName = ""
    var rest: Endpoint?
    var restName = ""
    var endpoint: Endpoint?
  }

  /// The routes of a path by method: few, so a list beats a dictionary.
  fileprivate struct Endpoint: Sendable {
    private var routes: [(method: Method, route: Route)] = []

    mutating func add(_ route: Route, for method: Method, at pattern: String) {
      precondition(self[method] == nil, "two routes for \(method.name) \(pattern)")
      routes.append((method, route))
    }

    subscript(_ method: Method) -> Route? {
      routes.first { $0.method == method }?.route
    }

    /// The methods for the Allow field. GET implies HEAD, and every path has OPTIONS.
    var allowed: String {
      var names = Set(routes.map(\.method.name))
      if names.contains("GET") { names.insert("HEAD") }
      names.insert("OPTIONS")
      return names.sorted().joined(separator: ", ")
    }
  }

  public enum Match {
    case route(Route, PathParameters)
    /// The path has no route for this method.
    case otherMethods(allowed: String)
    case none
  }

  private let root: Node
  /// Paths without variables, found without a walk if the request spells them in the same way.
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

    /// Adds a route. `pattern` is a path; `{name}` matches one segment, a final `{name...}` all that follow.
    public mutating func on(
      _ method: Method, _ pattern: String, bodyLimit: Int? = nil, _ handler: @escaping Handler
    ) {
      let route =
        if let bodyLimit { Route(handler: handler) { bodyLimit } } else { Route(handler: handler, bodyLimit: nil) }
      add(route, method, pattern)
    }

    /// - Parameter bodyLimit: is asked for each request.
    public mutating func on(
      _ method: Method, _ pattern: String, bodyLimit: @escaping @Sendable () -> Int, _ handler: @escaping Handler
    ) {
      add(Route(handler: handler, bodyLimit: bodyLimit), method, pattern)
    }

    private mutating func add(_ route: Route, _ method: Method, _ pattern: String) {
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

    /// Routes that share a variable segment must use the same name for it.
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

  /// Whether a route has this first segment. This excludes most paths of static files.
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
