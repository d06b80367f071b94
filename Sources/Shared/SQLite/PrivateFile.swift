/// A small file that only its owner can read, such as one with a secret. It is replaced as a whole.
public struct PrivateFile: Sendable {
  private let path: String

  public init(_ path: String) { self.path = path }

  /// Nil if there is no file.
  public func read() throws(SQLiteError) -> [UInt8]? {
    guard Files.exists(path) else { return nil }
    return try Files.read(path)
  }

  /// After a crash the file has the new content or the former.
  public func replace(_ bytes: [UInt8]) throws(SQLiteError) {
    let draft = path + ".new"
    try Files.remove(draft)
    try Files.write(bytes, toNew: draft)
    try Files.publish(draft, as: path)
  }

  public func removeIfPossible() {
    do throws(SQLiteError) { try Files.remove(path) } catch {
      // The caller has no use for the file any more.
    }
  }
}
