// The units of an archive, which the operator has copied to /etc/systemd/system: the copies follow the installed version.

struct UnitFiles {
  /// The folders of the units of both versions.
  let installed: String
  let previous: String

  private static let copies = "/etc/systemd/system"

  static func path(_ name: String) -> String { "\(copies)/\(name)" }

  /// Replaces the copies that equal the previous version's. Returns the names of these, and of those that differ from both versions where
  /// the versions differ, too.
  func update() throws(Settings.UsageError) -> (replaced: [String], kept: [String]) {
    var (replaced, kept): ([String], [String]) = ([], [])
    guard FileSystem.isFolder(previous), FileSystem.isFolder(installed) else { return (replaced, kept) }
    for name in try FileSystem.names(in: installed) where FileSystem.exists("\(previous)/\(name)") {
      guard FileSystem.isFile(Self.path(name)) else { continue }
      let (new, old) = try (FileSystem.read("\(installed)/\(name)"), FileSystem.read("\(previous)/\(name)"))
      let copy = try FileSystem.read(Self.path(name))
      guard new != old, copy != new else { continue }
      guard copy == old else {
        kept.append(name)
        continue
      }
      try FileSystem.write(new, to: Self.path(name), as: FileSystem.Access(mode: 0o644))
      replaced.append(name)
    }
    if !replaced.isEmpty { try FileSystem.sync(Self.copies) }
    return (replaced, kept)
  }
}
