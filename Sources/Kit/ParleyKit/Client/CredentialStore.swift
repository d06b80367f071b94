public import ParleyJSON
import ParleySQLite

/// The session of a device. Its token signs in.
public struct StoredCredential: Sendable, Hashable {
  /// The server of the session.
  public var server: ServerAddress
  /// The secret.
  public var token: String

  /// A token of a server.
  public init(_ server: ServerAddress, token: String) {
    self.server = server
    self.token = token
  }
}

extension StoredCredential: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("server", server.description)
      json.field("token", token)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    guard let server = ServerAddress(try object.string("server")) else { throw value.error(.invalid) }
    self.init(server, token: try object.string("token"))
  }

  /// The stored form.
  public var bytes: [UInt8] {
    var json = JSONWriter()
    json.value(self)
    return json.bytes
  }

  /// Reads the stored form; nil for anything else.
  public init?(_ bytes: [UInt8]) {
    do throws(JSONError) { try self.init(json: JSONValue(parsing: bytes)) } catch { return nil }
  }
}

/// Keeps the session of a device as its platform keeps secrets: a file that other users can't read (`CredentialFile`), the
/// keychain (`KeychainCredential` of ParleyURLSession), or a store of the app.
public protocol CredentialStore: Sendable {
  /// The stored session; nil without one.
  func load() throws(CacheFault) -> StoredCredential?
  /// Replaces the stored session.
  func save(_ credential: StoredCredential) throws(CacheFault)
  /// Removes the session, which has ended. A failure has no effect but the refusal of the token at the next start.
  func remove()
}

/// A file that only its owner can read (mode 0600), which is complete or missing after a crash.
public struct CredentialFile: CredentialStore {
  private let file: PrivateFile

  /// - Parameter path: the file, in a folder that exists.
  public init(_ path: String) { file = PrivateFile(path) }

  /// Nil without a file, and for a file of another content.
  public func load() throws(CacheFault) -> StoredCredential? {
    do throws(SQLiteError) { return try file.read().flatMap { StoredCredential($0) } } catch { throw CacheFault(error) }
  }

  /// Replaces the file.
  public func save(_ credential: StoredCredential) throws(CacheFault) {
    do throws(SQLiteError) { try file.replace(credential.bytes) } catch { throw CacheFault(error) }
  }

  /// Removes the file.
  public func remove() { file.removeIfPossible() }
}

/// The names `server` and `token` of a store of the app.
extension KeyValueStore: CredentialStore {
  /// Nil without both names.
  public func load() -> StoredCredential? {
    guard let server = read("server").flatMap({ ServerAddress($0) }), let token = read("token") else { return nil }
    return StoredCredential(server, token: token)
  }

  /// Stores both names.
  public func save(_ credential: StoredCredential) {
    write("server", credential.server.description)
    write("token", credential.token)
  }

  /// Removes the token. The address stays, for the next sign-in.
  public func remove() { write("token", nil) }
}
