import Imports
public import ParleyModel
import Storage

/// The request of the operator for an import.
public struct ImportOptions: Sendable {
  let kind: SourceKind
  /// A folder or a file.
  public let path: String
  /// Reads and checks, and changes nothing.
  public var isDryRun = false
  /// The user who owns the new forums; nil for the owner of the site.
  public var importer: String?
  /// Names of users of the site by the id, the name or the mail address of a user in the source.
  public var users: [String: String] = [:]
  /// The visibility of forums by their title in the source.
  public var visibility: [String: Visibility] = [:]

  /// Programs whose exports can be imported.
  public static let programs = SourceKind.allCases.map(\.rawValue)

  /// Nil for another program.
  public init?(from program: String, path: String) {
    guard let kind = SourceKind(rawValue: program) else { return nil }
    self.kind = kind
    self.path = path
  }
}

/// The result of an import.
public struct ImportReport: Sendable {
  public struct Forum: Sendable, Hashable {
    public let title: String
    public let visibility: Visibility
    public let topics: Int
  }

  /// Counts of things in the source, and of those that are new on the site.
  public struct Counts: Sendable, Hashable {
    public var users = 0
    public var groups = 0
    public var emoji = 0
    public var forums = 0
    public var topics = 0
    public var conversations = 0
    public var messages = 0
    public var files = 0
  }

  public internal(set) var read = Counts()
  public internal(set) var made = Counts()
  /// Numbers of things that were not imported, by reason.
  public internal(set) var leftOut: [String: Int] = [:]
  public internal(set) var forums: [Forum] = []
}

extension Community {
  /// Imports the export of another program. The whole source is read and checked before the first change. A repeated import adds
  /// what is new.
  ///
  /// - Parameter report: called with the phase and the messages that are done and known. It returns false to cancel.
  /// - Returns: nil if it was cancelled.
  @concurrent public func importSource(
    _ options: ImportOptions, report: @Sendable (_ phase: String, _ done: Int, _ total: Int) -> Bool
  ) async throws -> ImportReport? {
    let isFree = isImporting.withLock { isImporting in
      defer { isImporting = true }
      return !isImporting
    }
    guard isFree else { throw ImportFault("Another import is running. Wait for its end.") }
    defer { isImporting.withLock { $0 = false } }
    let cancelled = ImportFault("The import was cancelled.")
    do throws(ImportFault) {
      let now = try await time()
      let source = try Self.source(options, scratch: "\(store.folder.path)/import", now: now)
      var read = 0
      let overview = try source.overview { messages throws(ImportFault) in
        read += 1
        guard read % 256 != 0 || report("reading", messages, 0) else { throw cancelled }
      }
      return try await Importer(self, source, overview, options).run { phase, done, total throws(ImportFault) in
        guard report(phase, done, total) else { throw cancelled }
      }
    } catch {
      guard error != cancelled else { return nil }
      throw error
    }
  }

  private func time() async throws(ImportFault) -> Int64 {
    do throws(Refusal) { return try await store.readInBackground { tx throws(Refusal) in tx.now } } catch {
      throw ImportFault(error)
    }
  }

  private static func source(
    _ options: ImportOptions, scratch: String, now: Int64
  ) throws(ImportFault) -> any ImportSource {
    switch options.kind {
    case .discord: try DiscordExport(path: options.path, now: now)
    case .slack: try SlackExport(path: options.path, now: now)
    case .discourse: try DiscourseExport(path: options.path, scratch: scratch, now: now)
    case .parley: try ParleyExport(path: options.path, now: now)
    }
  }
}
