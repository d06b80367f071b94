/// Limits of what a source may contain. Each bounds memory, time or disk space.
public enum ImportLimits {
  /// Bytes of one line, message or other value.
  static let valueBytes = 16 << 20
  /// Entries of an archive.
  static let entries = 1_000_000
  /// Bytes of the directory of a zip archive.
  static let directoryBytes = 256 << 20
  /// Bytes of the name of a file.
  static let nameBytes = 1_024
  /// Bytes of an archive's content by byte of the archive. Text is 5 to 20 times as long as its compressed form.
  static let expansion = 200
  /// Content that an archive of any size may have, in bytes.
  static let smallContent = 64 << 20
  /// Bytes of all content of an archive.
  static let content = 1 << 40
  /// Files in the folders of a source.
  static let files = 1_000_000
  /// Depth of folders.
  static let folders = 16
  /// Users, forums and topics of a source, which are kept in memory.
  static let users = 500_000
  static let forums = 20_000
  static let topics = 1_000_000
  /// Posts of a Discourse site: their order is kept in memory.
  static let posts = 20_000_000
  /// Files of a message.
  static let attachments = 100
  /// Users of a reaction, and reactions of a message.
  static let reactionUsers = 10_000
  static let reactions = 100
  /// Parents of a reply up to the first message. A longer chain, or a cycle, is refused.
  static let replyDepth = 100_000
}
