/// A small file that only its owner can read, such as one with a secret. It is replaced as a whole.
public struct PrivateFile: Sendable {
  private let path: String

  public init(_ path: String) { self.path = path }

  private var draft: String { path + ".new" }

  /// Nil if there is no file.
  public func read() throws(SQLiteError) -> [UInt8]? {
    guard Files.exists(path) else { return nil }
    return try Files.read(path)
  }

  /// After a crash the file has the new content or the former.
  public func replace(_ bytes: [UInt8]) throws(SQLiteError) {
    try Files.remove(draft)
    try Files.write(bytes, toNew: draft)
    try Files.publish(draft, as: path)
  }

  public func removeIfPossible() {
    // A crash may have left the draft.
    do throws(SQLiteError) { for file in [path, draft] { try Files.remove(file) } } catch {
      // The caller has no use for the file any more.
    }
  }
}
