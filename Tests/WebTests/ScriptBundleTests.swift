import Testing

@testable import Web

@Suite struct ScriptBundleTests {
  private func joined(_ modules: [String: String], early: [String] = []) throws -> ScriptBundle {
    try ScriptBundle(root: "/app/main.js", early: early) { path throws(ScriptBundle.Fault) in
      guard let text = modules[path] else { throw .missing(path) }
      return text
    }
  }

  /// The modules of a script, in order.
  private func modules(in text: String) -> [String] {
    text.split(separator: "\n").filter { $0.hasPrefix("$modules[") }.map { String($0.split(separator: "\"")[1]) }
  }

  /// The code of a module, without the surrounding bundle.
  private func part(_ text: String) throws -> String {
    try ScriptModule("/app/main.js", text).part.replacing("{\n", with: "", maxReplacements: 1)
      .replacing("$modules[\"/app/main.js\"] = {  };\n}\n", with: "")
  }

  @Test func `imports precede the importing module, and each module occurs once`() throws {
    let script = try joined([
      "/app/main.js": "import { a } from './a.js';\nimport { b } from '../kit/b.js';\na(b);\n",
      "/app/a.js": "import { b } from '../kit/b.js';\nexport const a = () => b;\n",
      "/kit/b.js": "export const b = 1;\n",
    ])
    #expect(script.rest == nil)
    #expect(
      script.beginning(restAt: nil) == """
        const $modules = {};
        const $load = async (path) => $modules[path];
        {
        const b = 1;
        $modules["/kit/b.js"] = { b };
        }
        {
        const { b } = $modules["/kit/b.js"];
        const a = () => b;
        $modules["/app/a.js"] = { a };
        }
        {
        const { a } = $modules["/app/a.js"];
        const { b } = $modules["/kit/b.js"];
        a(b);
        $modules["/app/main.js"] = {  };
        }

        """)
  }

  private static let pages = [
    "/app/main.js": "import { place } from './place.js';\nplace();\n",
    "/app/place.js": "export const place = () => [import('./pages/a.js'), import('./pages/b.js')];\n",
    "/app/pages/a.js": "import { place } from '../place.js';\nimport { c } from './c.js';\nexport class a {}\n",
    "/app/pages/b.js": "import { c } from './c.js';\nexport class b {}\n",
    "/app/pages/c.js": "export const c = () => import('../main.js');\n",
  ]

  @Test func `lazy imports are in the second script and may import the module that loads them`() throws {
    let script = try joined(Self.pages)
    let beginning = script.beginning(restAt: "/js/rest.js")
    #expect(beginning.contains("const place = () => [$load('/app/pages/a.js'), $load('/app/pages/b.js')];"))
    #expect(beginning.contains("import(\"/js/rest.js\" + $again())"))
    #expect(beginning.contains("const $again = () => ($tries++ ? `?again=${$tries}` : \"\");"))
    // The rest is fetched when the page is idle.
    #expect(
      beginning.hasSuffix("}\n(globalThis.requestIdleCallback ?? setTimeout)(() => $load(\"\").catch(() => {}));\n"))
    #expect(modules(in: beginning) == ["/app/place.js", "/app/main.js"])
    let rest = try #require(script.rest)
    #expect(modules(in: rest).sorted() == ["/app/pages/a.js", "/app/pages/b.js", "/app/pages/c.js"])
    #expect(modules(in: rest).first == "/app/pages/c.js")
    #expect(rest.hasPrefix("export const add = async ($modules, $load) => {\n{\n"))
    #expect(rest.hasSuffix("}\n};\n"))
  }

  @Test func `preloaded modules are in the entry script with their imports`() throws {
    let script = try joined(Self.pages, early: ["/app/pages/b.js"])
    let beginning = script.beginning(restAt: "/js/rest.js")
    #expect(modules(in: beginning) == ["/app/pages/c.js", "/app/pages/b.js", "/app/place.js", "/app/main.js"])
    #expect(modules(in: try #require(script.rest)) == ["/app/pages/a.js"])
    #expect(try joined(Self.pages, early: ["/app/pages/b.js", "/app/pages/a.js"]).rest == nil)
  }

  @Test(arguments: [
    ("// a\nb();\n", "b();\n"),
    ("b(); // a\n", "b(); // a\n"),
    ("/** a */\nb();\n", "b();\n"),
    ("/**\n * a\n */\nb();\n", "b();\n"),
    ("b(\n  /** @type {C} */ (c),\n);\n", "b(\n (c),\n);\n"),
    ("  const a = '/*';\n", "const a = '/*';\n"),
    ("const a = 1;\n\n\nconst b = 2;\n", "const a = 1;\nconst b = 2;\n"),
    ("import { a as b } from './c.js';\n", "const { a: b } = $modules[\"/app/c.js\"];\n"),
    ("import {\n  a,\n  b,\n} from './c.js';\n", "const { a, b } = $modules[\"/app/c.js\"];\n"),
    ("const a = [import('./b.js'), import('./c.js')];\n", "const a = [$load('/app/b.js'), $load('/app/c.js')];\n"),
  ])
  func `comments and indentation are removed and imports are converted`(text: String, expected: String) throws {
    #expect(try part(text) == expected)
  }

  @Test(arguments: [
    ("export function a() {}", "a"), ("export async function a() {}", "a"), ("export class A {}", "A"),
    ("export const a_1 = 1;", "a_1"), ("const a = 1;\nexport { a };", "a"),
    ("const a = 1;\nexport { a as b };", "b: a"),
    ("export { a, b as c } from './d.js';", "a: $modules[\"/app/d.js\"].a, c: $modules[\"/app/d.js\"].b"),
  ])
  func `exports are converted`(text: String, expected: String) throws {
    #expect(try ScriptModule("/app/main.js", text).part.contains("$modules[\"/app/main.js\"] = { \(expected) };"))
  }

  @Test(arguments: [
    "import a from './a.js';", "import * as a from './a.js';", "import './a.js';", "import { a } from 'a';", "import {",
    "export default 1;", "export let a = 1;", "export const { a } = b;", "export * from './a.js';", "a(import('b'));",
  ])
  func `an unsupported statement is rejected with its text`(_ line: String) throws {
    let fault = try #require(throws: ScriptBundle.Fault.self) { try ScriptModule("/app/main.js", line) }
    #expect(fault.description.hasPrefix("/app/main.js: "))
  }

  @Test func `an import cycle is rejected`() throws {
    let fault = try #require(throws: ScriptBundle.Fault.self) {
      try joined([
        "/app/main.js": "import { a } from './a.js';", "/app/a.js": "import { b } from './b.js';",
        "/app/b.js": "import { a } from './a.js';",
      ])
    }
    #expect(fault.description.contains("needs itself"))
  }

  @Test func `a missing module is reported by its path`() throws {
    let fault = try #require(throws: ScriptBundle.Fault.self) {
      try joined(["/app/main.js": "import { a } from './none.js';"])
    }
    #expect(fault.description.contains("/app/none.js"))
  }
}
