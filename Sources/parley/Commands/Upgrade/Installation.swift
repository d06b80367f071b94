// The installed program with its files, and the previous one beside it.
//
//     /opt/parley             the archive of a release
//     /opt/parley.previous    the archive before it; while an upgrade is prepared, the next one
//
// Both exchange their names in one step, so at each moment one whole program is there. A Debian package owns /usr/bin/parley and
// /usr/share/parley; its scripts keep the previous ones in /usr/lib/parley/previous. These are two steps: a record of the intended
// state lets the next run complete them.

import ParleyJSON
import ParleyNetworking
import Storage

struct Installation {
  /// Pairs of an installed path and that of the previous version.
  private let pairs: [(installed: String, previous: String)]
  /// The folder of an archive; nil for a package.
  let folder: String?

  private static let program = "bin/parley"
  private static let packaged = "/usr/bin/parley"
  private static let packagedState = "/usr/lib/parley"
  private static let packagedPrevious = "\(packagedState)/previous"
  /// The inodes to be installed, one a line, as long as an exchange is not complete.
  private static let record = "\(packagedState)/exchange"
  /// The list of the files of an archive.
  private static let list = "share/parley/archive-files"
  private static let units = "lib/systemd/system"
  /// Names at the top of an archive.
  private static let names = ["LICENSE", "README.md", "bin", "lib", "share"]
  private static let versionTime = 20
  private static let unpackingTime = 600
  private static let removals = 20
  private static let removalInterval: Duration = .milliseconds(500)
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
  /// A path for the verified copy of the next archive.
  func copy(_ folder: String) -> String {
    let random = String(UInt64.random(in: .min ... .max), radix: 16)
    return "\(folder)\(Self.copyBegin)\(random)\(Self.copyEnd)"
  }

  private static let copyBegin = ".new-"
  private static let copyEnd = ".tar.gz"

  /// Copies that runs have left.
  private func copies(_ folder: String) throws(Settings.UsageError) -> [String] {
    let parent = FileSystem.parent(of: folder)
    let begin = "\(folder.dropFirst(parent == "/" ? 1 : parent.count + 1))\(Self.copyBegin)"
    return try FileSystem.names(in: parent, includesHidden: true).filter { name in
      name.hasPrefix(begin) && name.hasSuffix(Self.copyEnd)
        && name.dropFirst(begin.count).dropLast(Self.copyEnd.count).allSatisfy(\.isHexDigit)
    }.map { "\(parent)/\($0)" }
  }

  private var installedProgram: String { folder.map { "\($0)/\(Self.program)" } ?? Self.packaged }
  private var previousProgram: String { folder == nil ? pairs[0].previous : "\(pairs[0].previous)/\(Self.program)" }

  /// A previous version that is being deleted has no program.
  var hasPrevious: Bool { pairs.allSatisfy { FileSystem.exists($0.previous) } && FileSystem.exists(previousProgram) }

  /// The copies of its units; nil for a package, which has none.
  var unitFiles: UnitFiles? {
    folder.map { UnitFiles(installed: "\($0)/\(Self.units)", previous: "\(pairs[0].previous)/\(Self.units)") }
  }

  /// Whether a path, or the link at it, is that of the installed program.
  func isProgram(_ path: String) -> Bool {
    FileSystem.resolved(path) == FileSystem.resolved(installedProgram)
  }

  /// Excludes other runs until the descriptor is released.
  func lock() throws(Settings.UsageError) -> Descriptor {
    let path: String
    if let folder {
      let name = folder.split(separator: "/").last.map(String.init) ?? ""
      path = "\(FileSystem.parent(of: folder))/.\(name).lock"
    } else {
      try FileSystem.makeFolder(Self.packagedState, mode: 0o755)
      path = "\(Self.packagedState)/lock"
    }
    guard let lock = try FileSystem.lockFile(path) else {
      throw Settings.UsageError(message: "Another parley upgrade runs. Wait for its end and repeat the command.")
    }
    return lock
  }

  /// Whether a running program is the installed one.
  func isInstalled(_ running: RunningProgram) -> Bool {
    pairs.contains { running.executable == $0.installed || running.executable.hasPrefix($0.installed + "/") }
  }

  // MARK: Files of the operator

  /// Refuses files in the folder that are not of the archive: an upgrade would move them aside, and the next one would delete them.
  func requireOnlyArchive(data: String) throws(Settings.UsageError) {
    guard let folder else { return }
    let (real, realData) = (FileSystem.resolved(folder), FileSystem.resolved(data))
    guard realData != real, !realData.hasPrefix(real + "/") else {
      throw Settings.UsageError(
        message: "The data folder \(data) is in \(folder), which an upgrade replaces. Move it, for example to "
          + "\(ServiceUnits.data), and name it with \(Setting.data.flag). Nothing was changed.")
    }
    var listed: Set<Substring>?
    if FileSystem.exists("\(folder)/\(Self.list)") {
      let text = String(decoding: try FileSystem.read("\(folder)/\(Self.list)"), as: UTF8.self)
      listed = Set(text.split(separator: "\n"))
    }
    let foreign = try Self.file(below: folder) { path in
      // An archive without a list.
      guard let listed else { return !Self.names.contains { path == $0 || path.hasPrefix($0 + "/") } }
      return !listed.contains(path[...])
    }
    guard let foreign else { return }
    throw Settings.UsageError(
      message:
        "\(folder)/\(foreign) is not of the archive, and an upgrade replaces the folder. Move the file elsewhere "
        + "and change the settings that name it. Nothing was changed.")
  }

  /// The first file below a folder that `isWanted` chooses by its path in it. A link is a file.
  private static func file(
    below folder: String, at prefix: String = "", _ isWanted: (String) -> Bool
  ) throws(Settings.UsageError) -> String? {
    for name in try FileSystem.names(in: "\(folder)/\(prefix)", includesHidden: true) {
      let path = prefix + name
      if FileSystem.isFolder("\(folder)/\(path)") {
        if let found = try file(below: folder, at: path + "/", isWanted) { return found }
      } else if isWanted(path) {
        return path
      }
    }
    return nil
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

  /// Removes the leftovers of an upgrade that was cut off.
  func removeUnpacked(_ folder: String) async throws(Settings.UsageError) {
    for copy in try copies(folder) { try FileSystem.remove(copy) }
    // The tar of a killed run may still write there.
    for _ in 1..<Self.removals {
      do throws(Settings.UsageError) {
        try await Self.removeTree(unpacking(folder))
        return
      } catch {
        try? await Task.sleep(for: Self.removalInterval)
      }
    }
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
    guard pairs.count > 1 else { return try FileSystem.exchange(pairs[0].installed, pairs[0].previous) }
    var intended = ""
    for pair in pairs {
      guard let inode = FileSystem.inode(pair.previous) else {
        throw Settings.UsageError(message: "\(pair.previous) is missing. Install the package again.")
      }
      intended += "\(inode)\n"
    }
    try FileSystem.write(Array(intended.utf8), to: Self.record)
    try FileSystem.sync(Self.packagedState)
    try settle()
  }

  /// Completes an exchange that was cut off between its steps.
  func settle() throws(Settings.UsageError) {
    guard pairs.count > 1, FileSystem.exists(Self.record) else { return }
    let intended = String(decoding: try FileSystem.read(Self.record), as: UTF8.self).split(separator: "\n").map {
      UInt64($0)
    }
    for (pair, inode) in zip(pairs, intended) where FileSystem.inode(pair.installed) != inode {
      guard inode != nil, FileSystem.inode(pair.previous) == inode else {
        throw Settings.UsageError(
          message:
            "A change of the version was cut off, and \(pair.previous) has changed since. Delete \(Self.record) and "
            + "install the package again.")
      }
      try FileSystem.exchange(pair.installed, pair.previous)
    }
    try FileSystem.remove(Self.record)
    try FileSystem.sync(Self.packagedState)
  }

  /// The previous program with arguments.
  func previous(_ arguments: [String]) -> ChildProgram { ChildProgram([previousProgram] + arguments) }

  /// The installed program with arguments.
  func installed(_ arguments: [String]) -> ChildProgram { ChildProgram([installedProgram] + arguments) }

  /// Deletes the files of an archive or of a package, and no others.
  func removePrevious() async throws(Settings.UsageError) {
    guard folder != nil else {
      for pair in pairs { try await Self.removeTree(pair.previous) }
      return
    }
    let previous = pairs[0].previous
    guard FileSystem.exists(previous) else { return }
    let others = try FileSystem.names(in: previous, includesHidden: true).filter { !Self.names.contains($0) }
    guard others.isEmpty else {
      throw Settings.UsageError(
        message:
          "\(previous)/\(others[0]) is not of an archive of Parley, so \(previous) is not deleted. Move it elsewhere "
          + "and repeat the command.")
    }
    for name in Self.names { try await Self.removeTree("\(previous)/\(name)") }
    try FileSystem.removeEmptyFolder(previous)
  }

  private static func removeTree(_ path: String) async throws(Settings.UsageError) {
    guard FileSystem.exists(path) else { return }
    let removed = await ChildProgram(["/bin/rm", "-rf", "--", path]).run(
      input: "", environment: [:], within: unpackingTime)
    guard removed.isSuccess else { throw Settings.UsageError(message: "Can't delete \(path): \(removed.reason)") }
  }
}
