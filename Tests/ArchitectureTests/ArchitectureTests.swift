import Foundation
import ParleyCrypto
import Testing

/// The files of the package, as text.
enum Package {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func files(under folder: String, ending: String) throws -> [(path: String, text: String)] {
    let base = root.appending(path: folder)
    let paths = try #require(FileManager.default.enumerator(atPath: base.path)).compactMap { $0 as? String }
    return try paths.filter { $0.hasSuffix(ending) }.sorted().map { path in
      (folder + "/" + path, try String(contentsOf: base.appending(path: path), encoding: .utf8))
    }
  }

  /// The folder of each target below `Sources`, by the target's name.
  static var targets: [String: String] {
    get throws {
      let manifest = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
      let entry = try Regex(
        #"(?:sources|program|systemLibrary)\(\s*(?:name: )?"([\w-]+)", (?:in|path): "(Sources/[\w/-]+)""#)
      let pairs = manifest.matches(of: entry).compactMap { match in
        match.output[1].substring.flatMap { name in
          match.output[2].substring.map { (String(name), String($0)) }
        }
      }
      return Dictionary(uniqueKeysWithValues: pairs)
    }
  }

  /// A line without its comment, approximately.
  static func code(_ line: Substring) -> String {
    let text = line.trimmingCharacters(in: .whitespaces)
    if text.hasPrefix("//") { return "" }
    return text.range(of: " // ").map { String(text[..<$0.lowerBound]) } ?? text
  }
}

/// The imports that each target may have.
private let mayImport: [String: Set<String>] = [
  "CParleyLinux": [], "CParleyOpenSSL": [], "CParleySQLite": [], "CParleyZlib": [],
  "ParleyJSON": [],
  "ParleyCrypto": ["CParleyOpenSSL", "CryptoKit"],
  "ParleyWire": ["CParleyZlib", "ParleyCrypto", "ParleyJSON"],
  "ParleyNetworking": ["CParleyLinux", "CParleyOpenSSL", "Dispatch"],
  "ParleyHTTPClient": ["ParleyNetworking", "ParleyWire", "Dispatch"],
  "ParleySQLite": ["CParleySQLite", "ParleyCrypto"],
  "ParleyMarkup": [],
  "ParleyModel": ["ParleyJSON"],
  "Media": [],
  "PubSub": ["ParleyModel"],
  "WebPush": ["ParleyCrypto", "ParleyWire", "ParleyJSON"],
  "WebAuthn": ["ParleyModel", "ParleyCrypto", "ParleyWire", "ParleyJSON"],
  "OAuth": ["ParleyModel", "ParleyCrypto", "ParleyWire", "ParleyJSON"],
  "ACME": ["ParleyHTTPClient", "ParleyNetworking", "ParleyWire", "ParleyCrypto", "ParleyJSON"],
  "OIDC": ["OAuth", "ParleyModel", "ParleyCrypto", "ParleyWire", "ParleyJSON"],
  "Issuers": ["OIDC", "ParleyHTTPClient", "ParleyNetworking", "ParleyWire"],
  "Mail": ["ParleyModel", "ParleyHTTPClient", "ParleyNetworking", "ParleyWire", "ParleyCrypto", "ParleyJSON"],
  "Imports": ["ParleyCrypto", "ParleyWire", "ParleyJSON"],
  "Storage": ["CParleyLinux", "ParleySQLite", "ParleyModel", "ParleyCrypto", "ParleyJSON", "Dispatch"],
  "Community": [
    "ParleyModel", "ParleyMarkup", "Media", "Imports", "Storage", "PubSub", "WebPush", "WebAuthn", "OAuth", "OIDC",
    "Mail", "ParleyCrypto", "ParleyJSON", "Dispatch",
  ],
  "Previews": ["ParleyHTTPClient", "Media", "ParleyWire", "ParleyJSON"],
  "Webhooks": [
    "Community", "Storage", "PubSub", "ParleyModel", "ParleyHTTPClient", "ParleyWire", "ParleyCrypto", "ParleyJSON",
  ],
  "Web": ["ParleyWire", "ParleyJSON"],
  "Serving": ["ParleyNetworking", "ParleyWire", "Web", "ParleyJSON", "Dispatch"],
  "API": [
    "Community", "WebAuthn", "OAuth", "OIDC", "Mail", "PubSub", "ParleyModel", "ParleyMarkup", "Previews", "Web",
    "ParleyWire",
    "ParleyJSON",
  ],
  "Dialects": [
    "API", "Community", "Storage", "PubSub", "ParleyModel", "Web", "ParleyWire", "ParleyCrypto", "ParleyJSON",
  ],
  // Foundation on Apple platforms only, in the folder that ParleyURLSession has on Linux.
  "ParleyKit": [
    "ParleySQLite", "ParleyModel", "ParleyMarkup", "ParleyCrypto", "ParleyJSON", "ParleyKit", "Foundation",
  ],
  "ParleyURLSession": ["ParleyKit", "Foundation", "FoundationNetworking", "Security"],
  "ParleyTransport": ["ParleyKit", "ParleyHTTPClient", "ParleyNetworking", "ParleyWire"],
  "ParleyProgram": [
    "API", "Community", "ParleyCrypto", "ParleyJSON", "ParleyModel", "ParleyNetworking", "ParleyHTTPClient",
    "ParleyKit", "ParleyTransport", "Previews", "PubSub", "Serving", "Storage", "Web", "Webhooks", "WebPush",
    "Mail", "ACME", "OIDC", "Issuers", "Dialects", "ParleyWire", "Dispatch", "CParleyLinux",
    // Its folder has the folder of the executable.
    "ParleyProgram",
  ],
  "parley": ["ParleyProgram"],
]

/// Imports allowed in every target: modules of the standard library and the C library. Foundation is not among them:
/// without it the program is a third of the size and starts in a few milliseconds.
private let importableEverywhere: Set<String> = ["Glibc", "Darwin", "Synchronization", "Observation"]

/// Targets that also build on Apple platforms, without Glibc.
private let portable: Set<String> = ["ParleyKit", "ParleyModel", "ParleyMarkup", "ParleyJSON"]

/// Files that may contain unsafe expressions: around system calls and C libraries, and in measured hot paths.
private let mayBeUnsafe: Set<String> = [
  "Kit/ParleyTransport/StandardFolder.swift",
  "Kit/ParleyURLSession/KeychainCredential.swift",
  "Server/Community/Realtime/Publisher.swift",
  "Server/Imports/Bytes/ScratchFolder.swift",
  "Server/Imports/Bytes/SourceFile.swift",
  "Server/Imports/Bytes/SourceFolder.swift",
  "Server/Storage/Backup/Backups.swift",
  "Server/Storage/Backup/Scheduled/ScheduledBackups.swift",
  "Server/Storage/Engine/BackgroundReaders.swift",
  "Server/Storage/Engine/DataFolder.swift",
  "Server/Storage/Engine/Disk.swift",
  "Server/Storage/Engine/SerialQueue.swift",
  "Server/Storage/Engine/Writer.swift",
  "Server/Storage/Files/BlobWriter.swift",
  "Server/Storage/Files/PartFile.swift",
  "Server/Storage/Verification/Files.swift",
  "Server/Storage/Verification/IntegrityCheck.swift",
  "Server/Web/Static/PublicFolder.swift",
  "Server/Web/Static/OpenFile.swift",
  "Shared/Crypto/AppleCrypto.swift",
  "Shared/Crypto/OpenSSL.swift",
  "Shared/Crypto/OpenSSLSignatures.swift",
  "Shared/JSON/SpanBytes.swift",
  "Shared/Networking/Clock.swift",
  "Shared/Networking/Descriptor.swift",
  "Shared/Networking/EpollPoller.swift",
  "Shared/Networking/EventLoop.swift",
  "Shared/Networking/Listener.swift",
  "Shared/Networking/MemoryBudget.swift",
  "Shared/Networking/OutputQueue.swift",
  "Shared/Networking/Reactor.swift",
  "Shared/Networking/ServiceManager.swift",
  "Shared/Networking/SocketAddress.swift",
  "Shared/Networking/Stream.swift",
  "Shared/Networking/StreamSocket.swift",
  "Shared/Networking/SystemError.swift",
  "Shared/Networking/TLS/Certificate.swift",
  "Shared/Networking/TLS/TLSChannel.swift",
  "Shared/Networking/TLS/TLSContext.swift",
  "Shared/Networking/TLS/TLSSession.swift",
  "Shared/SQLite/Files.swift",
  "Shared/SQLite/Library/BackupHandle.swift",
  "Shared/SQLite/Library/DatabaseHandle.swift",
  "Shared/SQLite/Library/ProcessorTime.swift",
  "Shared/SQLite/Library/StatementHandle.swift",
  "Shared/Wire/Compression/ZlibStream.swift",
  "Shared/Wire/Text/Bytes.swift",
  "Shared/Wire/WebSocket/WideBytes.swift",
  "parley/ChildProgram.swift",
  "parley/FileSystem.swift",
  "parley/NamedPipe.swift",
  "parley/Terminal.swift",
]

/// Expressions that end the process or disable a check. Code that a peer can reach must not contain them.
private let forbidden: [String] = [
  "fatalError(", "try!", "as!", "preconditionFailure(", "@unchecked Sendable", "nonisolated(unsafe)", "unsafeBitCast",
]

@Test func `every target is in the import table`() throws {
  #expect(Set(try Package.targets.keys) == Set(mayImport.keys))
}

@Test func `the map of the sources lists every target and only existing paths`() throws {
  let text = try String(contentsOf: Package.root.appending(path: "Sources/README.md"), encoding: .utf8)
  let quoted = text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
    .map { String($0.element) }
  for (target, folder) in try Package.targets {
    #expect(quoted.contains(target), "\(target) is missing in the map")
    let isListed = quoted.contains(String(folder.dropFirst("Sources/".count))) || folder.hasPrefix("Sources/System/")
    #expect(isListed, "\(folder) is missing in the map")
  }
  let paths = quoted.filter { $0.contains("/") && !$0.contains(" ") && !$0.contains("*") && !$0.contains("(") }
  #expect(paths.count > 30)
  let folders = try Package.targets.values.map { $0 + "/" } + ["", "Sources/"]
  for path in paths {
    let exists = folders.contains { folder in
      FileManager.default.fileExists(atPath: Package.root.appending(path: folder + path).standardizedFileURL.path)
    }
    #expect(exists, "\(path) does not exist")
  }
}

@Test func `a folder of the sources has at most 20 files`() throws {
  let files = try Package.files(under: "Sources", ending: ".swift")
  let folders = Dictionary(grouping: files) { $0.path.split(separator: "/").dropLast().joined(separator: "/") }
  #expect(folders.count > 80)
  for (folder, files) in folders { #expect(files.count <= 20, "\(folder)") }
}

@Test func `a file of the sources has at most 500 lines`() throws {
  // A generated table of digests.
  let table = "Sources/Server/Community/SignIn/CommonPasswordDigests.swift"
  let files = try Package.files(under: "Sources", ending: ".swift")
  #expect(files.contains { $0.path == table })
  for file in files where file.path != table {
    let count = file.text.count { $0 == "\n" }
    #expect(count <= 500, "\(file.path) has \(count) lines")
  }
}

/// The functions and initializers of a file with their numbers of lines, by their first lines.
private func functions(in text: String) throws -> [(name: String, lines: Int)] {
  let beginning = try Regex(
    #"^ *(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|private|fileprivate|static|final|mutating|nonisolated|consuming) )*"#
      + #"(?:func |init[?(<])"#)
  let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  return lines.indices.compactMap { index in
    guard lines[index].contains(beginning) else { return nil }
    let indentation = lines[index].prefix { $0 == " " }
    // A signature of several lines ends with `)` in the column of the function.
    let end = lines[(index + 1)...].firstIndex { line in
      let code = line.drop { $0 == " " }
      return !code.isEmpty && line.count - code.count <= indentation.count && !code.hasPrefix(")") && code != "{"
    }
    guard let end, lines[end] == indentation + "}" else { return nil }
    return (name: String(lines[index].dropFirst(indentation.count)), lines: end - index + 1)
  }
}

@Test func `a function of the sources has at most 80 lines`() throws {
  let sample = "struct A {\n  func short() { 1 }\n  private static func long(\n    _ a: Int\n  ) {\n\n    a()\n  }\n}\n"
  #expect(try functions(in: sample).map(\.lines) == [6])
  for file in try Package.files(under: "Sources", ending: ".swift") {
    for function in try functions(in: file.text) where function.lines > 80 {
      Issue.record("\(file.path): \(function.name) has \(function.lines) lines")
    }
  }
}

@Test func `targets import only modules that their layer allows`() throws {
  let statement = try Regex(
    #"^(?:@[a-z_]+ )?(?:(?:public|package|internal|private) )?import (?:(?:struct|class|enum|func) )?(\w+)"#)
  for (target, folder) in try Package.targets {
    let allowed = try #require(mayImport[target])
    for file in try Package.files(under: folder, ending: ".swift") {
      for line in file.text.split(separator: "\n") {
        guard let match = try statement.firstMatch(in: Package.code(line)), let name = match.output[1].substring else {
          continue
        }
        let isImportableEverywhere =
          importableEverywhere.contains(String(name)) && (name != "Glibc" || !portable.contains(target))
        let isAllowed = allowed.contains(String(name)) || isImportableEverywhere
        #expect(isAllowed, "\(file.path) imports \(name)")
      }
    }
  }
}

@Test func `ParleyKit imports Foundation on Apple platforms only`() throws {
  let files = try Package.files(under: "Sources/Kit/ParleyKit", ending: ".swift").filter {
    $0.text.contains("import Foundation") || $0.text.contains("import ParleyKit\n")
  }
  #expect(files.map(\.path).allSatisfy { $0.hasPrefix("Sources/Kit/ParleyKit/Foundation/") } && files.count == 2)
  for file in files {
    let code = file.text.split(separator: "\n").filter { !Package.code($0).isEmpty }
    #expect(code.first == "#if PARLEY_FOUNDATION" && code.last == "#endif", "\(file.path)")
  }
}

@Test func `the consumer package has targets with the names of all targets without a prefix`() throws {
  func names(_ path: String, _ pattern: String) throws -> Set<String> {
    let text = try String(contentsOf: Package.root.appending(path: path), encoding: .utf8)
    return Set(text.matches(of: try Regex(pattern)).compactMap { $0.output[1].substring.map(String.init) })
  }
  let consumer = try names("Tests/consumer/Package.swift", #""(\w+)"[,\n]"#)
  let targets = try names("Package.swift", #"(?:sources|support|target)\(\s*(?:name: )?"(\w+)""#)
  let unprefixed = targets.filter { !$0.hasPrefix("Parley") && !$0.hasPrefix("CParley") }
  #expect(unprefixed.count > 10)
  #expect(unprefixed.subtracting(consumer) == [])
}

/// APIs of the standard library that came with a release of Apple's platforms, by the first version of each platform that
/// has them.
private let firstVersions: [(api: String, versions: [String: Int])] = [
  (".span", ["macOS": 26, "iOS": 26, "tvOS": 26, "watchOS": 26, "visionOS": 26]),
  ("utf8Span", ["macOS": 26, "iOS": 26, "tvOS": 26, "watchOS": 26, "visionOS": 26]),
  ("import Synchronization", ["macOS": 15, "iOS": 18, "tvOS": 18, "watchOS": 11, "visionOS": 2]),
  ("@Observable", ["macOS": 14, "iOS": 17, "tvOS": 17, "watchOS": 10, "visionOS": 1]),
]

@Test func `the package declares the platforms that have the APIs of its libraries`() throws {
  let manifest = try String(contentsOf: Package.root.appending(path: "Package.swift"), encoding: .utf8)
  var declared: [String: Int] = [:]
  for match in manifest.matches(of: try Regex(#"\.(macOS|iOS|tvOS|watchOS|visionOS)\(\.v(\d+)\)"#)) {
    guard let name = match.output[1].substring, let version = match.output[2].substring else { continue }
    declared[String(name)] = Int(version)
  }
  let text = try ["Sources/Kit", "Sources/Shared"].flatMap { try Package.files(under: $0, ending: ".swift") }
    .map(\.text).joined()
  for (api, versions) in firstVersions where text.contains(api) {
    for (platform, version) in versions { #expect(declared[platform] ?? 0 >= version, "\(api) on \(platform)") }
  }
  #expect(firstVersions.contains { text.contains($0.api) })
}

/// Switches over types that are not our enums: enums of the standard library, which may get new cases, and structs with
/// named values (`Status`, `URLError.Code`).
private let foreignSwitches: Set<String> = [
  "Kit/ParleyURLSession/URLSessionTransport.swift: switch URLError.Code(rawValue: error.code) {",
  "Server/API/Pages/PageAddress.swift: switch scalar.properties.generalCategory {",
  "Server/Mail/HeaderText.swift: switch scalar.properties.generalCategory {",
  "Server/Serving/ResponseHead.swift: switch status {",
  "Shared/Markup/ScalarKind.swift: switch properties.generalCategory {",
  "Shared/Model/Search/SearchFolding.swift: return switch scalar.properties.generalCategory {",
  "parley/Terminal.swift: switch scalar.properties.generalCategory {",
]

/// The switches over an enum with a `default:`, a `case _`, a `case let other`, or a case that takes all values of an enum after a
/// pattern of one of them. A pattern with a `.name`, also in a tuple, makes a switch one over an enum.
private func defaultsOverEnums(in text: String) throws -> [String] {
  let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  let wildcard = try Regex(#"^(?:default|case \(?_(?:, _)*\)?|case (?:let|var) \w+)(?: where .*)?:"#)
  let wholeCase = try Regex(#"^case (?:let )?(\.\w+)(?:\((?:(?:let )?\w+)\))?:"#)
  let named = try Regex(#"^case (?:let )?(?:\((?:[^()]*, )?)?\.[a-z]"#)
  return lines.indices.compactMap { index in
    let line = lines[index].drop { $0 == " " }
    let ofCase = line.firstMatch(of: wholeCase)?.output[1].substring
    guard line.contains(wildcard) || ofCase != nil else { return nil }
    let indentation = lines[index].count - line.count
    var isOverEnum = false
    for earlier in lines[..<index].reversed() {
      let code = earlier.drop { $0 == " " }
      guard earlier.count - code.count == indentation else { continue }
      if code.contains("switch ") { return isOverEnum ? String(code) : nil }
      if ofCase.map({ code.contains("\($0)(.") }) ?? code.contains(named) { isOverEnum = true }
    }
    return nil
  }
}

@Test(arguments: [
  ("case .red: 1\n  default: 2", true), ("case 1: 1\n  default: 2", false), ("case .red: 1\n  case .blue: 2", false),
  ("case .red where isDark: 1\n  default: 2", true), ("case (.red, 1): 1\n  default: 2", true),
  ("case (1, .red): 1\n  case (_, _): 2", true), ("case let .mixed(color): 1\n  case _: 2", true),
  ("case (_, 1): 1\n  case (_, _): 2", false),
  ("case let fault as Fault where fault.code == .red: 1\n  default: 2", false),
  ("case .red: 1\n  case let other: 2", true), ("case 1: 1\n  case let other: 2", false),
  ("case .mixed(.red): 1\n  case .mixed: 2", true), ("case .mixed(.red): 1\n  case .mixed(let other): 2", true),
  ("case .mixed(.red): 1\n  case .plain: 2", false), ("case .mixed(1): 1\n  case .mixed: 2", false),
])
func `a switch over an enum with a default is recognized`(cases: String, isFault: Bool) throws {
  #expect(try defaultsOverEnums(in: "  switch color {\n  \(cases)\n  }") == (isFault ? ["switch color {"] : []))
}

@Test func `a switch over one of our enums lists all cases`() throws {
  let found = try Package.files(under: "Sources", ending: ".swift").flatMap { file in
    try defaultsOverEnums(in: file.text).map { "\(file.path.dropFirst("Sources/".count)): \($0)" }
  }
  #expect(Set(found) == foreignSwitches)
}

@Test func `unsafe code is only in the listed files`() throws {
  let word = try Regex(#"\bunsafe\b"#)
  var found: Set<String> = []
  for file in try Package.files(under: "Sources", ending: ".swift") {
    let isUnsafe = file.text.split(separator: "\n").contains { Package.code($0).contains(word) }
    if isUnsafe { found.insert(String(file.path.dropFirst("Sources/".count))) }
  }
  #expect(found.subtracting(mayBeUnsafe).isEmpty, "not on the list")
  #expect(mayBeUnsafe.subtracting(found).isEmpty, "on the list without need")
}

@Test func `no source file ends the process or disables a check`() throws {
  for file in try Package.files(under: "Sources", ending: ".swift") {
    for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      for word in forbidden where Package.code(line).contains(word) {
        Issue.record("\(file.path):\(number + 1) has \(word)")
      }
    }
  }
}

@Test func `a line of the log begins with a capital letter`() throws {
  let line = try Regex(#"\blog\(\s*"[a-z][^"]{0,40}"#)
  #expect("log(\n  \"the disk is full\")".contains(line) && !"log(\"The disk is full\")".contains(line))
  for file in try Package.files(under: "Sources", ending: ".swift") {
    for match in file.text.matches(of: line) { Issue.record("\(file.path): \(file.text[match.range])") }
  }
}

/// The entries below `## Decisions` with their titles and numbers of sentences.
private func decisions(in text: String) throws -> [(entry: String, title: String, sentences: Int)] {
  guard let start = text.range(of: "\n## Decisions\n") else { return [] }
  let section = text[start.upperBound...].split(separator: "\n## ", maxSplits: 1).first ?? ""
  let (ignored, end) = try (Regex(#"`[^`]*`|^ \(\d{4}[-\d]*\)\."#), Regex(#"[.!?](?=\s|$)"#))
  let date = try Regex(#"^\d{4}-\d\d-\d\d · "#)
  return ("\n" + section).split(separator: "\n- **").dropFirst().map { entry in
    let lines = entry.split(separator: "\n").enumerated().prefix { $0.offset == 0 || $0.element.hasPrefix("  ") }
    let paragraph = lines.map(\.element).joined(separator: "\n")
    // The bold title and a date after it are not counted.
    let body = paragraph.range(of: "**").map { paragraph[$0.upperBound...] } ?? ""
    let title = (paragraph.range(of: "**").map { paragraph[..<$0.lowerBound] } ?? "").replacing(date, with: "")
    return (
      entry: String(entry.prefix(60)), title: title.lowercased().trimmingCharacters(in: .punctuationCharacters),
      sentences: body.replacing(ignored, with: "x").matches(of: end).count
    )
  }
}

@Test func `a decision takes at most three sentences`() throws {
  let sample = "# A\n\n## Decisions\n\n- **One.** It is `a. b`. It\n  is two.\n- **Two** (2026). A. B? C! D.\n"
  #expect(try decisions(in: sample).map(\.sentences) == [2, 4])
  let found = try allDecisions()
  #expect(found.count > 250)
  for decision in found where decision.sentences > 3 { Issue.record("\(decision.location): \(decision.sentences)") }
}

/// The decisions of all READMEs.
private func allDecisions() throws -> [(location: String, title: String, sentences: Int)] {
  try ["Sources", "Public/js"].flatMap { try Package.files(under: $0, ending: "README.md") }.flatMap { file in
    try decisions(in: file.text).map {
      (location: "\(file.path): \($0.entry)", title: $0.title, sentences: $0.sentences)
    }
  }
}

@Test func `each section of decisions is a list of entries`() throws {
  for file in try ["Sources", "Public/js"].flatMap({ try Package.files(under: $0, ending: "README.md") }) {
    guard let start = file.text.range(of: "\n## Decisions\n") else { continue }
    let section = file.text[start.upperBound...].split(separator: "\n## ", maxSplits: 1).first ?? ""
    #expect(try !decisions(in: file.text).isEmpty, "\(file.path)")
    #expect(!section.contains("\n**"), "\(file.path) has a decision that is no entry of a list")
  }
}

@Test func `no decision is recorded twice`() throws {
  let sample = "# A\n\n## Decisions\n\n- **2026-11-20 · One list.** Yes.\n- **One list** (2026-11-21). Yes.\n"
  #expect(try decisions(in: sample).map(\.title) == ["one list", "one list"])
  let places = Dictionary(grouping: try allDecisions(), by: \.title).filter { $0.value.count > 1 }
  for (title, places) in places { Issue.record("\(title): \(places.map(\.location))") }
}

@Test func `every target has a README with content`() throws {
  for folder in try Package.targets.values {
    let text = try String(contentsOf: Package.root.appending(path: "\(folder)/README.md"), encoding: .utf8)
    #expect(text.count > 150, "\(folder)/README.md")
  }
}

@Test(arguments: [
  (["0001_people.sql", "0002_forums.sql"], true), ([], true),
  (["0001_people.sql", "0003_forums.sql"], false), (["0001_people.sql", "0001_forums.sql"], false),
  (["0002_people.sql"], false), (["1_people.sql"], false), (["0001_People.sql"], false), (["0001-people.sql"], false),
])
func `migrations are numbered from 1 without a gap`(names: [String], isRight: Bool) throws {
  #expect(try areNumbered(names) == isRight)
}

/// Files that repeat the version of `Sources/parley/Version.swift`, and its place in them.
private let versions = [
  "Public/openapi.json": #""title": "Parley",\s+"version": "([^"]+)""#,
  "Public/asyncapi.json": #""title": "Parley realtime",\s+"version": "([^"]+)""#,
  "Public/js/parley/package.json": #""version": "([^"]+)""#,
  "Public/js/parley/README.md": #"parley-js-([0-9.]+)\.tgz"#,
  "Public/js/app/state/site.js": #"const VERSION = '([^']+)'"#,
  "Sources/Kit/ParleyKit/README.md": #"from: "([^"]+)"\)"#,
  "CHANGELOG.md": #"\n## ([^\n]+)"#,
]

@Test(arguments: versions.keys.sorted()) func `a release has one version`(file: String) throws {
  func version(_ path: String, _ pattern: String) throws -> Substring? {
    let text = try String(contentsOf: Package.root.appending(path: path), encoding: .utf8)
    return try Regex(pattern).firstMatch(in: text)?.output[1].substring
  }
  let released = try #require(try version("Sources/parley/Version.swift", #"let version = "([^"]+)""#))
  #expect(released.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
  let pattern = try #require(versions[file])
  #expect(try version(file, pattern) == released)
}

@Test func `images are pinned by version or date, and compose trusts no network`() throws {
  func text(_ path: String) throws -> String {
    try String(contentsOf: Package.root.appending(path: path), encoding: .utf8)
  }
  let images = try text("docker/Dockerfile").split(separator: "\n").filter { $0.hasPrefix("FROM ") }
  let pinned = try Regex(#"FROM [a-z]+:(\d+\.\d+\.\d+-[a-z]+|[a-z]+-\d{8}-[a-z]+)( AS [a-z]+)?"#)
  #expect(images.count == 2)
  for image in images { #expect(image.wholeMatch(of: pinned) != nil, "\(image)") }
  #expect(try text("docker/compose.yaml").contains("PARLEY_TRUSTED_PROXY: ${PARLEY_TRUSTED_PROXY:-}"))
}

@Test func `the migrations of this package are numbered from 1 without a gap`() throws {
  let folder = Package.root.appending(path: "Migrations/sqlite").path
  let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  #expect(try areNumbered(names.filter { !$0.hasPrefix(".") }), "\(names)")
}

@Test func `the compiled hashes of the migrations match the files`() throws {
  let source = try Package.files(under: "Sources", ending: "MigrationHashes.swift").map(\.text).joined()
  let files = try Package.files(under: "Migrations/sqlite", ending: ".sql")
  #expect(try compiledMigrations(source) == files.map { try fingerprint($0.path, $0.text) }, "run: make migrations")
}

@Test func `a migration with another number, name or byte is detected`() throws {
  let text = "create table forum (id integer primary key) strict;\n"
  let right = try fingerprint("Migrations/sqlite/0007_forums.sql", text)
  let hash = try #require(right.split(separator: " ").last)
  let source = "    Migration(\n      number: 7, name: \"forums\",\n      hash: \"\(hash)\"),\n"
  #expect(try compiledMigrations(source) == [right])
  #expect(try fingerprint("Migrations/sqlite/0008_forums.sql", text) != right)
  #expect(try fingerprint("Migrations/sqlite/0007_rooms.sql", text) != right)
  #expect(try fingerprint("Migrations/sqlite/0007_forums.sql", text + " ") != right)
}

private func compiledMigrations(_ source: String) throws -> [String] {
  let entry = try Regex(#"Migration\(\s*number: (\d+), name: "([a-z0-9_]+)",\s*hash: "([0-9a-f]{64})"\)"#)
  return source.matches(of: entry).map { match in
    (1...3).compactMap { match.output[$0].substring.map(String.init) }.joined(separator: " ")
  }
}

/// Number, name and SHA-256 in the format of the generated source.
private func fingerprint(_ path: String, _ text: String) throws -> String {
  let file = path.split(separator: "/").last ?? ""
  let number = Int(file.prefix(4)) ?? 0
  return "\(number) \(file.dropFirst(5).dropLast(4)) " + Hex.text(try Digest.sha256(of: Array(text.utf8)))
}

private func areNumbered(_ names: [String]) throws -> Bool {
  let pattern = try Regex(#"^(\d{4})_[a-z0-9_]+\.sql$"#)
  let numbers = try names.sorted().map { name in
    try pattern.wholeMatch(in: name).flatMap { $0.output[1].substring.flatMap { Int($0) } }
  }
  return numbers == Array(1..<(names.count + 1)).map(Optional.some)
}
