import Foundation
import ParleyCrypto
import Testing

/// The package's own files, as text.
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

  /// A line without its comment. Good enough for what is looked for here.
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
  "ParleyCrypto": ["CParleyOpenSSL"],
  "ParleyWire": ["CParleyZlib", "ParleyCrypto", "ParleyJSON"],
  "ParleyNetworking": ["CParleyLinux", "CParleyOpenSSL", "Dispatch"],
  "ParleyHTTPClient": ["ParleyNetworking", "ParleyWire", "Dispatch"],
  "ParleySQLite": ["CParleySQLite", "ParleyCrypto"],
  "ParleyMarkup": [],
  "ParleyModel": ["ParleyJSON"],
  "Media": [],
  "PubSub": ["ParleyModel"],
  "Storage": ["ParleySQLite", "ParleyModel", "ParleyCrypto", "ParleyJSON", "Dispatch"],
  "Community": ["ParleyModel", "ParleyMarkup", "Media", "Storage", "PubSub", "ParleyCrypto", "Dispatch"],
  "Previews": ["ParleyHTTPClient", "Media", "ParleyWire", "ParleyJSON"],
  "Web": ["ParleyWire", "ParleyJSON"],
  "Serving": ["ParleyNetworking", "ParleyWire", "Web", "ParleyJSON", "Dispatch"],
  "API": ["Community", "PubSub", "ParleyModel", "ParleyMarkup", "Previews", "Web", "ParleyWire", "ParleyJSON"],
  "ParleyKit": ["ParleySQLite", "ParleyModel", "ParleyMarkup", "ParleyCrypto", "ParleyJSON"],
  "ParleyTransport": ["ParleyKit", "ParleyHTTPClient", "ParleyNetworking", "ParleyWire"],
  "parley": [
    "API", "Community", "ParleyCrypto", "ParleyJSON", "ParleyModel", "ParleyNetworking", "ParleyHTTPClient",
    "ParleyKit", "ParleyTransport", "Previews", "PubSub", "Serving", "Storage", "Web", "ParleyWire", "Dispatch",
  ],
]

/// The standard library's parts and the C library, which everyone may have. Foundation is not among them: without it the
/// program is a third of the size and starts in a few milliseconds.
private let everyone: Set<String> = ["Glibc", "Synchronization", "Observation"]

/// What has to build on Apple's systems as well does without the C library of Linux.
private let portable: Set<String> = ["ParleyKit", "ParleyModel", "ParleyMarkup", "ParleyJSON"]

/// Where unsafe expressions may stand: around system calls and C libraries, and where a measured hot path needs them.
private let mayBeUnsafe: Set<String> = [
  "Server/Community/Realtime/Publisher.swift",
  "Server/Storage/Backup/Backups.swift",
  "Server/Storage/Engine/BackgroundReaders.swift",
  "Server/Storage/Engine/DataFolder.swift",
  "Server/Storage/Engine/Disk.swift",
  "Server/Storage/Engine/SerialQueue.swift",
  "Server/Storage/Engine/Writer.swift",
  "Server/Storage/Files/BlobWriter.swift",
  "Server/Storage/Files/PartFile.swift",
  "Server/Storage/Verification/FileContents.swift",
  "Server/Web/Static/PublicFolder.swift",
  "Server/Web/Static/OpenFile.swift",
  "Shared/Crypto/OpenSSL.swift",
  "Shared/Networking/Clock.swift",
  "Shared/Networking/Descriptor.swift",
  "Shared/Networking/DescriptorLimit.swift",
  "Shared/Networking/EpollPoller.swift",
  "Shared/Networking/EventLoop.swift",
  "Shared/Networking/InputBuffer.swift",
  "Shared/Networking/Listener.swift",
  "Shared/Networking/OutputQueue.swift",
  "Shared/Networking/CoalescingBuffer.swift",
  "Shared/Networking/ServiceManager.swift",
  "Shared/Networking/SocketAddress.swift",
  "Shared/Networking/Stream.swift",
  "Shared/Networking/SystemError.swift",
  "Shared/Networking/TLS/Certificate.swift",
  "Shared/Networking/TLS/SelfSigned.swift",
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
  "parley/FileSystem.swift",
  "parley/Terminal.swift",
]

/// What ends the process or switches a check off. None of it has a place in code that a peer can reach.
private let forbidden: [String] = [
  "fatalError(", "try!", "as!", "preconditionFailure(", "@unchecked Sendable", "nonisolated(unsafe)", "unsafeBitCast",
]

@Test func `every target is in the import table`() throws {
  #expect(Set(try Package.targets.keys) == Set(mayImport.keys))
}

@Test func `targets import only what their layer allows`() throws {
  let statement = try Regex(
    #"^(?:@[a-z]+ )?(?:(?:public|package|internal|private) )?import (?:(?:struct|class|enum|func) )?(\w+)"#)
  for (target, folder) in try Package.targets {
    let allowed = try #require(mayImport[target])
    for file in try Package.files(under: folder, ending: ".swift") {
      for line in file.text.split(separator: "\n") {
        guard let match = try statement.firstMatch(in: Package.code(line)), let name = match.output[1].substring else {
          continue
        }
        let isForEveryone = everyone.contains(String(name)) && (name != "Glibc" || !portable.contains(target))
        let isAllowed = allowed.contains(String(name)) || isForEveryone
        #expect(isAllowed, "\(file.path) imports \(name)")
      }
    }
  }
}

@Test func `unsafe code stands only where the list says`() throws {
  let word = try Regex(#"\bunsafe\b"#)
  var found: Set<String> = []
  for file in try Package.files(under: "Sources", ending: ".swift") {
    let isUnsafe = file.text.split(separator: "\n").contains { Package.code($0).contains(word) }
    if isUnsafe { found.insert(String(file.path.dropFirst("Sources/".count))) }
  }
  #expect(found.subtracting(mayBeUnsafe).isEmpty, "not on the list")
  #expect(mayBeUnsafe.subtracting(found).isEmpty, "on the list without need")
}

@Test func `nothing in the sources ends the process or switches a check off`() throws {
  for file in try Package.files(under: "Sources", ending: ".swift") {
    for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      for word in forbidden where Package.code(line).contains(word) {
        Issue.record("\(file.path):\(number + 1) has \(word)")
      }
    }
  }
}

@Test func `every target has a README that says something`() throws {
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

@Test func `the migrations of this package are numbered from 1 without a gap`() throws {
  let folder = Package.root.appending(path: "Migrations/sqlite").path
  let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  #expect(try areNumbered(names.filter { !$0.hasPrefix(".") }), "\(names)")
}

@Test func `the hashes of the migrations that are compiled in are those of the files`() throws {
  let source = try Package.files(under: "Sources", ending: "MigrationHashes.swift").map(\.text).joined()
  let files = try Package.files(under: "Migrations/sqlite", ending: ".sql")
  #expect(try compiledMigrations(source) == files.map { try fingerprint($0.path, $0.text) }, "run: make migrations")
}

@Test func `a migration that differs in its number, its name or one byte is noticed`() throws {
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

/// Number, name and SHA-256, as the generated source has them.
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
