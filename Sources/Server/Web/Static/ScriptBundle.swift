/// The app's modules as two scripts, each in the order in which its modules need one another: what a page begins with, and the
/// rest, which is fetched as a whole once the page stands, or something of it is asked for. A module stands in braces, takes
/// what it needs from `$modules` and puts there what it gives; comments and indentation stay behind. A browser that has both
/// needs no other script, and has all of the version that runs.
struct ScriptBundle {
  private let first: String
  /// A module that gives `add`, which puts the rest beside what is there; nil where the beginning is all.
  let rest: String?

  /// What can't be joined, and where it is.
  enum Fault: Error, CustomStringConvertible {
    case missing(String)
    case cycle(String)
    case unknown(String, String)

    var description: String {
      switch self {
      case .missing(let path): "\(path) is not there, or too large"
      case .cycle(let path): "\(path) needs itself, by way of others"
      case .unknown(let path, let line): "\(path): this can't be joined: \(line)"
      }
    }
  }

  /// `early` are those that are loaded later and all the same belong to the beginning; `read` gives the text of a module.
  init(root: String, early: [String] = [], read: (String) throws(Fault) -> String) throws(Fault) {
    var modules: [String: ScriptModule] = [:]
    // Those that are loaded later begin rows of their own; the root comes last, since it is the one that does something.
    var roots: [String] = []
    var waiting = [root] + early
    while let path = waiting.popLast() {
      guard modules[path] == nil else { continue }
      let module = try ScriptModule(path, read(path))
      modules[path] = module
      roots += module.lazyImports
      waiting += module.imports + module.lazyImports
    }
    var order = Order(modules: modules)
    for path in early + [root] { try order.add(path) }
    first = order.parts.joined()
    let count = order.parts.count
    for path in roots { try order.add(path) }
    let others = order.parts.dropFirst(count)
    rest = others.isEmpty ? nil : "export const add = async ($modules, $load) => {\n\(others.joined())};\n"
  }

  /// What a page begins with; the rest is at `address`. It is fetched as soon as the page has nothing else to do, since another
  /// version may take its place here while the page stands. What could not be fetched is asked for again the next time, at
  /// another address: browsers keep in mind that a module was not there.
  func beginning(restAt address: String?) -> String {
    guard let address else { return "const $modules = {};\nconst $load = async (path) => $modules[path];\n\(first)" }
    return """
      const $modules = {};
      let $rest, $tries = 0;
      const $again = () => ($tries++ ? `?again=${$tries}` : "");
      const $fetch = () => import("\(address)" + $again()).then((it) => it.add($modules, $load));
      const $load = async (path) => {
      if (!$modules[path]) await ($rest ??= $fetch().catch((error) => { $rest = undefined; throw error; }));
      return $modules[path];
      };
      \(first)(globalThis.requestIdleCallback ?? setTimeout)(() => $load("").catch(() => {}));

      """
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
        guard hasPart else { throw .cycle(path) }
        return
      }
      guard let module = modules[path] else { throw .missing(path) }
      hasPart[path] = false
      for need in module.imports { try add(need) }
      hasPart[path] = true
      parts.append(module.part)
    }
  }
}
