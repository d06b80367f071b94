import Crypto
import Foundation
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

  static var targets: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Sources").path)
        .filter { !$0.hasPrefix(".") && !$0.hasSuffix(".md") }.sorted()
    }
  }

  /// A line without its comment. Good enough for what is looked for here.
  static func code(_ line: Substring) -> String {
    let text = line.trimmingCharacters(in: .whitespaces)
    if text.hasPrefix("//") { return "" }
    return text.range(of: " // ").map { String(text[..<$0.lowerBound]) } ?? text
  }
}

/// Who may import whom. The left half moves bytes, the right half knows the community, and Web is the handshake.
private let mayImport: [String: Set<String>] = [
  "CLinux": [], "COpenSSL": [], "CSQLite": [], "CZlib": [],
  "JSON": [],
  "Crypto": ["COpenSSL"],
  "Wire": ["CZlib", "Crypto", "JSON"],
  "Networking": ["CLinux", "COpenSSL", "Dispatch"],
  "Outgoing": ["Calling", "Networking", "Wire", "Dispatch"],
  "Previews": ["Outgoing", "Media", "Wire", "JSON"],
  "SQLite": ["CSQLite", "Crypto"],
  "Markup": [],
  "Media": [],
  "Model": ["JSON"],
  "PubSub": ["Model"],
  "Storage": ["SQLite", "Model", "Crypto", "JSON", "Dispatch"],
  "Community": ["Model", "Markup", "Media", "Storage", "PubSub", "Crypto", "Dispatch"],
  "API": ["Community", "PubSub", "Model", "Markup", "Previews", "Web", "Wire", "JSON"],
  "Web": ["Wire", "JSON"],
  "Serving": ["Networking", "Wire", "Web", "JSON", "Dispatch"],
  "Calling": ["Networking", "Wire", "Dispatch"],
  "ParleyKit": ["SQLite", "Model", "Markup", "Crypto", "JSON"],
  "ParleyTransport": ["ParleyKit", "Calling", "Networking", "Wire"],
  "parley": [
    "API", "Community", "Crypto", "JSON", "Model", "Networking", "Outgoing", "ParleyKit", "ParleyTransport", "Previews",
    "PubSub", "Serving", "Storage", "Web", "Wire", "Dispatch",
  ],
  "parley-bench": [
    "Crypto", "JSON", "Model", "Networking", "ParleyKit", "ParleyTransport", "SQLite", "Serving", "Storage", "Web",
    "Wire", "Dispatch",
  ],
]

/// The standard library's parts and the C library, which everyone may have. Foundation is not among them: without it the
/// program is a third of the size and starts in a few milliseconds.
private let everyone: Set<String> = ["Glibc", "Synchronization", "Observation"]

/// What has to build on Apple's systems as well does without the C library of Linux.
private let portable: Set<String> = ["ParleyKit", "Model", "Markup", "JSON"]

/// Where unsafe expressions may stand: around system calls and C libraries, and where a measured hot path needs them.
private let mayBeUnsafe: Set<String> = [
  "Crypto/OpenSSL.swift",
  "Networking/Certificate.swift", "Networking/Clock.swift", "Networking/Descriptor.swift",
  "Networking/DescriptorLimit.swift",
  "Networking/EpollPoller.swift", "Networking/EventLoop.swift", "Networking/InputBuffer.swift",
  "Networking/Listener.swift", "Networking/OutputQueue.swift", "Networking/Seam.swift", "Networking/SelfSigned.swift",
  "Networking/ServiceManager.swift", "Networking/SocketAddress.swift", "Networking/Stream.swift",
  "Networking/SystemError.swift", "Networking/TLSContext.swift", "Networking/TLSSession.swift",
  "SQLite/Files.swift", "SQLite/Library/BackupHandle.swift", "SQLite/Library/DatabaseHandle.swift",
  "SQLite/Library/ProcessorTime.swift",
  "SQLite/Library/StatementHandle.swift",
  "Community/Publisher.swift",
  "Storage/BackgroundReaders.swift", "Storage/Backup/Backups.swift", "Storage/DataFolder.swift",
  "Storage/Disk.swift", "Storage/SerialQueue.swift", "Storage/Verification/FileContents.swift",
  "Storage/Files/BlobWriter.swift", "Storage/Files/PartFile.swift",
  "Storage/Writer.swift",
  "Web/Folder.swift", "Web/OpenFile.swift",
  "Wire/Compression/ZlibStream.swift", "Wire/Text/Bytes.swift", "Wire/WebSocket/WideBytes.swift",
  "parley/Folder.swift", "parley/Terminal.swift",
  "parley-bench/Console.swift", "parley-bench/FileBytes.swift",
]

/// What ends the process or switches a check off. None of it has a place in code that a peer can reach.
private let forbidden: [String] = [
  "fatalError(", "try!", "as!", "preconditionFailure(", "@unchecked Sendable", "nonisolated(unsafe)", "unsafeBitCast",
]

@Test func `every target is in the import table`() throws {
  #expect(Set(try Package.targets) == Set(mayImport.keys))
}

@Test func `targets import only what their layer allows`() throws {
  let statement = try Regex(
    #"^(?:@[a-z]+ )?(?:(?:public|package|internal|private) )?import (?:(?:struct|class|enum|func) )?(\w+)"#)
  for (target, allowed) in mayImport {
    for file in try Package.files(under: "Sources/\(target)", ending: ".swift") {
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
  for target in try Package.targets {
    let text = try String(contentsOf: Package.root.appending(path: "Sources/\(target)/README.md"), encoding: .utf8)
    #expect(text.count > 150, "Sources/\(target)/README.md")
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
