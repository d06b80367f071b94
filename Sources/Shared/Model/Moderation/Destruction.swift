public import ParleyJSON

/// Result of the destruction of content.
public struct Destruction: Sendable, Hashable {
  /// Whether the bytes have left the database, its write-ahead log and the files. If not, the server completes it soon.
  public var isPurged: Bool
  /// Copies of the site on the server that were made before and may have the content: names of backups and of folders that a restore
  /// replaced, in the data folder, and paths of scheduled backups elsewhere.
  public var copies: [String]

  /// The result of a destruction.
  public init(isPurged: Bool, copies: [String]) {
    self.isPurged = isPurged
    self.copies = copies
  }
}

extension Destruction: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("purged", isPurged)
      json.field("copies", copies)
    }
  }
}

/// Request to destroy content. Nothing of it can be restored.
public struct DestructionDraft: Sendable {
  /// Exactly one of the three is set.
  public var message: ID<Message>?
  /// The file to destroy.
  public var file: ID<File>?
  /// The user to destroy, with all messages and files.
  public var user: UserReference?
  /// The reason for the audit log: 1 to 1,000 Unicode scalars.
  public var reason: String

  /// Reads a request to destroy content from its body.
  public init(_ object: inout JSONObject) throws(JSONError) {
    message = try object.optional("message")
    file = try object.optional("file")
    user = try object.optional("user")
    reason = try object.string("reason")
  }
}
