/// The app's modules as two scripts, each in dependency order: the entry script, and the rest. The browser fetches the
/// rest when the page is idle or needs one of its modules. A module is a block in braces. It reads its imports from
/// `$modules` and stores its exports there. Comments and indentation are removed. With both scripts, the browser has
/// every module of one version.
struct ScriptBundle {
  private let first: String
  /// A module that exports `add`, which adds the other modules to `$modules`; nil if the entry script has all modules.
  let rest: String?

  /// The reason why bundling failed.
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

  /// - Parameters:
  ///   - early: lazily loaded modules that belong to the entry script.
  ///   - read: returns the source of a module.
  init(root: String, early: [String] = [], read: (String) throws(Fault) -> String) throws(Fault) {
    var modules: [String: ScriptModule] = [:]
    // Lazily loaded modules are roots of their own. The entry module is last, since it starts the app.
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

  /// The entry script; `address` is the URL of the rest. The rest is fetched when the page is idle, since a new version
  /// may replace it on the server while the page is open. A failed fetch is retried under another URL, because browsers
  /// cache the failure of a module.
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

  /// Topological order: the imports of a module precede it.
  private struct Order {
    let modules: [String: ScriptModule]
    private(set) var parts: [String] = []
    /// False while the imports of a module are being added.
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
