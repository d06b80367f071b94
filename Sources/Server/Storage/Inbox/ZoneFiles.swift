/// Files of the time zones of the system.
public enum ZoneFiles {
  private static let folder = "/usr/share/zoneinfo"
  private static let maxBytes = 65_536

  /// The rules of a zone; nil if there is none. The caller checks that the name is no other path.
  public static func rules(of name: String) -> ZoneRules? { read(name).flatMap { ZoneRules($0) } }

  static func read(_ name: String) -> [UInt8]? {
    guard let file = try? DiskFile.open("\(folder)/\(name)", followingLinks: true), let size = try? file.size,
      size <= maxBytes
    else { return nil }
    return try? file.read(size)
  }
}
