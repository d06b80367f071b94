/// The app's modules as one script, in the order in which they need one another. Each stands in braces, takes what it needs
/// from `$modules` and puts there what it gives; comments and indentation stay behind. A browser that has it needs no other
/// script: what is loaded later is there already, and of the version that runs.
struct JoinedScript {
  let text: String

  /// What can't be joined, and where it is.
  enum Fault: Error, CustomStringConvertible {
    case missing(String)
    case circle(String)
    case unknown(String, String)

    var description: String {
      switch self {
      case .missing(let path): "\(path) is not there, or too large"
      case .circle(let path): "\(path) needs itself, by way of others"
      case .unknown(let path, let line): "\(path): this can't be joined: \(line)"
      }
    }
  }

  /// `read` gives the text of a module.
  init(root: String, read: (String) throws(Fault) -> String) throws(Fault) {
    var modules: [String: ScriptModule] = [:]
    // Those that are loaded later begin rows of their own; the root comes last, since it is the one that does something.
    var roots = [root]
    var waiting = [root]
    while let path = waiting.popLast() {
      guard modules[path] == nil else { continue }
      let module = try ScriptModule(path, read(path))
      modules[path] = module
      roots += module.later
      waiting += module.needs + module.later
    }
    var order = Order(modules: modules)
    for path in roots.reversed() { try order.add(path) }
    text = "const $modules = {};\nconst $load = async (path) => $modules[path];\n" + order.parts.joined()
  }

  /// What each needs stands before it.
  private struct Order {
    let modules: [String: ScriptModule]
    private(set) var parts: [String] = []
    /// False while what a module needs is looked for.
    private var hasPart: [String: Bool] = [:]

    init(modules: [String: ScriptModule]) {
      self.modules = modules
    }

    mutating func add(_ path: String) throws(Fault) {
      if let hasPart = hasPart[path] {
        guard hasPart else { throw .circle(path) }
        return
      }
      guard let module = modules[path] else { throw .missing(path) }
      hasPart[path] = false
      for need in module.needs { try add(need) }
      hasPart[path] = true
      parts.append(module.part)
    }
  }
}
