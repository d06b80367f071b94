// The installed program with its files, and the previous one beside it.
//
//     /opt/parley             the archive of a release
//     /opt/parley.previous    the archive before it; while an upgrade is prepared, the next one
//
// Both exchange their names in one step, so at each moment one whole program is there. A Debian package owns /usr/bin/parley and
// /usr/share/parley; its scripts keep the previous ones in /usr/lib/parley/previous.

import ParleyNetworking
import Storage

struct Installation {
  /// Pairs of an installed path and that of the previous version.
  private let pairs: [(installed: String, previous: String)]
  /// The folder of an archive; nil for a package.
  let folder: String?

  private static let program = "bin/parley"
  private static let packaged = "/usr/bin/parley"
  private static let packagedPrevious = "/usr/lib/parley/previous"
  private static let versionTime = 20
  private static let unpackingTime = 600
  /// Room beside the sizes of the archive: a new version may be larger.
  private static let slack = 64 << 20

  /// The installation that has this program.
  static func current() throws(Settings.UsageError) -> Installation {
    let path = FileSystem.programPath ?? ""
    if path == packaged {
      return Installation(
        pairs: [
          (packaged, "\(packagedPrevious)/\(program)"), ("/usr/share/parley", "\(packagedPrevious)/share/parley"),
        ], folder: nil)
    }
    // The program may have another name beside the link of this one.
    let folder = FileSystem.parent(of: FileSystem.parent(of: path))
    guard path.hasPrefix("\(folder)/bin/"), folder != "/usr", FileSystem.exists("\(folder)/share/parley/Migrations"),
      FileSystem.isExecutable("\(folder)/\(program)")
    else {
      throw Settings.UsageError(
        message:
          "\(Terminal.plain(path)) was not installed from an archive or a package of Parley. docker/README.md says how "
          + "to upgrade other installations.")
    }
    // The program of a folder that was exchanged while it ran.
    let installed = folder.hasSuffix(previousEnding) ? String(folder.dropLast(previousEnding.count)) : folder
    return Installation(pairs: [(installed, installed + previousEnding)], folder: installed)
  }

  private static let previousEnding = ".previous"

  /// The folder in which the next archive is unpacked.
  private func unpacking(_ folder: String) -> String { folder + ".new" }
  /// The verified copy of the next archive.
  func copy(_ folder: String) -> String { folder + ".new.tar.gz" }

  private var installedProgram: String { folder.map { "\($0)/\(Self.program)" } ?? Self.packaged }
  private var previousProgram: String { folder == nil ? pairs[0].previous : "\(pairs[0].previous)/\(Self.program)" }

  var hasPrevious: Bool { pairs.allSatisfy { FileSystem.exists($0.previous) } }

  /// Whether a running program is the installed one.
  func isInstalled(_ running: RunningProgram) -> Bool {
    pairs.contains { running.executable == $0.installed || running.executable.hasPrefix($0.installed + "/") }
  }

  // MARK: Versions

  func installedVersion() async throws(Settings.UsageError) -> ReleaseVersion {
    try await Self.version(of: installedProgram)
  }

  func previousVersion() async throws(Settings.UsageError) -> ReleaseVersion {
    try await Self.version(of: previousProgram)
  }

  private static func version(of program: String) async throws(Settings.UsageError) -> ReleaseVersion {
    let result = await ChildProgram([program, "--version"]).run(input: "", environment: [:], within: versionTime)
    guard result.isSuccess, let version = ReleaseVersion(String(result.output.trimmingPrefix("parley "))) else {
      throw Settings.UsageError(message: "\(program) does not run: \(result.reason)")
    }
    return version
  }

  // MARK: The next version

  /// Unpacks a release beside the installed one, and runs its program once.
  func unpack(_ release: Release, in folder: String) async throws(Settings.UsageError) {
    let target = unpacking(folder)
    try await Self.removeTree(target)
    try FileSystem.makeFolder(target, mode: 0o755)
    let unpacked = await ChildProgram([
      "/usr/bin/tar", "--extract", "--gzip", "--file=\(release.path)", "--directory=\(target)", "--strip-components=1",
      "--no-same-owner",
    ]).run(input: "", environment: [:], within: Self.unpackingTime)
    guard unpacked.isSuccess else {
      throw Settings.UsageError(message: "The archive can't be unpacked into \(target): \(unpacked.reason)")
    }
    let version = try await Self.version(of: "\(target)/\(Self.program)")
    guard version == release.version else {
      throw Settings.UsageError(
        message: "The archive of version \(release.version) has the program of version \(version). Download it again.")
    }
    try FileSystem.syncAll(target)
  }

  /// Removes what an upgrade that was cut off has left.
  func removeUnpacked(_ folder: String) async throws(Settings.UsageError) {
    try FileSystem.remove(copy(folder))
    try await Self.removeTree(unpacking(folder))
  }

  /// The program that was unpacked.
  func unpackedProgram(in folder: String) -> ChildProgram { ChildProgram(["\(unpacking(folder))/\(Self.program)"]) }

  /// Installs the unpacked version. The one that was installed is the previous one now.
  func install(_ folder: String) async throws(Settings.UsageError) {
    try await removePrevious()
    try FileSystem.move(unpacking(folder), to: pairs[0].previous)
    try exchange()
  }

  /// Refuses an archive without room for it.
  func requireRoom(for archive: String, in folder: String) throws(Settings.UsageError) {
    let parent = FileSystem.parent(of: folder)
    let size = try FileSystem.source(archive).size
    guard let free = FileSystem.freeSpace(parent) else { return }
    // The copy, and its content, which is up to four times as large.
    let needed = 5 * size + Self.slack
    guard free >= needed else {
      throw Settings.UsageError(
        message:
          "The new version needs \(Amount.bytes(needed)) of \(parent), and \(Amount.bytes(free)) are free. Make room and "
          + "repeat the command.")
    }
  }

  // MARK: The previous version

  /// Exchanges the installed version and the previous one.
  func exchange() throws(Settings.UsageError) {
    for pair in pairs { try FileSystem.exchange(pair.installed, pair.previous) }
  }

  /// The previous program with arguments.
  func previous(_ arguments: [String]) -> ChildProgram { ChildProgram([previousProgram] + arguments) }

  /// The installed program with arguments.
  func installed(_ arguments: [String]) -> ChildProgram { ChildProgram([installedProgram] + arguments) }

  func removePrevious() async throws(Settings.UsageError) {
    for pair in pairs { try await Self.removeTree(pair.previous) }
  }

  private static func removeTree(_ path: String) async throws(Settings.UsageError) {
    guard FileSystem.exists(path) else { return }
    let removed = await ChildProgram(["/bin/rm", "-rf", "--", path]).run(
      input: "", environment: [:], within: unpackingTime)
    guard removed.isSuccess else { throw Settings.UsageError(message: "Can't delete \(path): \(removed.reason)") }
  }
}
