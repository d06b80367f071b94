import Foundation
import ParleyModel
import Testing

@testable import ParleyKit

/// A file of the cache that several processes of an app open. Some tests run another process, `cache-holder`; in the others a
/// connection stands for a process: SQLite's locks are those of connections.
@Suite struct SharedFileTests {
  private static func seed(_ store: DiskStore) throws -> PreviewSite {
    let site = PreviewSite.garden
    try store.save(site.changes(MessageIndexing()))
    return site
  }

  @Test func `a reader sees what the app commits while it has the file open`() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/cache.db"
    let store = try DiskStore(path, isShared: true)
    let reader = try CacheReader(path)
    #expect(try reader.me() == nil)
    let site = try Self.seed(store)
    let message = try #require(site.messages.last)
    let found = try #require(try reader.message(message.id))
    #expect(found.content?.text == "Seeds have arrived 🌱")
    #expect(try reader.me()?.summary.name == "ada")
    #expect(try reader.user(found.author)?.summary.displayName == "Grace Hopper")
    #expect(try reader.conversation(found.conversation)?.kind == .direct)
    #expect(try reader.forum(site.forums[0].forum.id)?.title == "Garden")
    #expect(try reader.message(ID(999)) == nil && reader.user(ID(999)) == nil)
    // A notification about a later revision is not answered from the copy.
    let payload = Array(#"{"event":"message.edited","data":{"id":"\#(message.id)","revision":2}}"#.utf8)
    #expect(try reader.message(of: MessagePayload(payload)) == nil)
  }

  @Test func `one process at a time has a shared file open`() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/cache.db"
    var first: DiskStore? = try DiskStore(path, isShared: true)
    #expect(throws: CacheFault.inUse) { try DiskStore(path, isShared: true, patience: .zero) }
    #expect(throws: CacheFault.inUse) { try DiskStore(path, patience: .zero) }
    _ = try first.map(Self.seed)
    first = nil
    // The lock ends with the store; the next process reads and writes.
    let second = try DiskStore(path, isShared: true, patience: .zero)
    #expect(try second.rows(of: .user).count == 3)
    #expect(try CacheReader(path).me()?.summary.name == "ada")
  }

  @Test func `another process reads beside the app, and writes once the app has ended`() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/cache.db"
    var app: DiskStore? = try DiskStore(path, isShared: true)
    let site = try #require(try app.map(Self.seed))
    let message = try #require(site.messages.last).id
    let reader = try CacheHolder("read", path, message.description)
    #expect(reader.line() == "Seeds have arrived 🌱")
    let refused = try CacheHolder("hold", path)
    #expect(refused.line() == CacheFault.inUse.code)
    app = nil
    let holder = try CacheHolder("hold", path)
    #expect(holder.line() == "open")
    #expect(throws: CacheFault.inUse) { try DiskStore(path, isShared: true, patience: .zero) }
    #expect(try CacheReader(path).message(message)?.content?.text == "Seeds have arrived 🌱")
    // The lock of a killed process is gone.
    holder.kill()
    #expect(try DiskStore(path, isShared: true, patience: .zero).rows(of: .user).count == 3)
  }

  @Test func `a file that is not shared has no reader`() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/cache.db"
    #expect(throws: CacheFault.self) { try CacheReader(path) }
    let store = try DiskStore(path)
    #expect(throws: CacheFault.inUse) { try CacheReader(path, patience: .zero) }
    _ = try Self.seed(store)
  }

  @Test func `a reader reads no locked copy`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/cache.db"
    let cache = try Cache {
      let store = try DiskStore(path, isShared: true)
      _ = try Self.seed(store)
      return store
    }
    let reader = try CacheReader(path)
    #expect(try reader.me() != nil)
    try await cache.lock()
    #expect(throws: CacheFault.locked) { try reader.me() }
    #expect(throws: CacheFault.locked) { try reader.message(ID(7)) }
    try await cache.unlock()
    #expect(try reader.me() != nil)
  }
}

/// A running `cache-holder`, which ends with this object.
private final class CacheHolder {
  private let process = Process()
  private let output = Pipe()
  private let input = Pipe()
  private var text = ""

  /// In the folder of the test binary.
  private static let program: URL = {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "cache-holder")
  }()

  init(_ arguments: String...) throws {
    process.executableURL = Self.program
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  deinit { kill() }

  /// The next line of its output; what there is of it once the output ends.
  func line() -> String {
    while !text.contains("\n") {
      let piece = output.fileHandleForReading.availableData
      if piece.isEmpty { break }
      text += String(decoding: piece, as: UTF8.self)
    }
    let line = text.prefix { $0 != "\n" }
    text = String(text.dropFirst(line.count + 1))
    return String(line)
  }

  /// Kills the process (SIGKILL) and waits for its end.
  func kill() {
    guard process.isRunning else { return }
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
