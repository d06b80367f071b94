// The default session of an app: signing in and resuming without a device of its own.

public import Foundation
public import ParleyKit

extension ServerAddress {
  /// The address of a site, without a path; nil for any other URL.
  public init?(_ url: URL) { self.init(url.absoluteString) }
}

extension Parley {
  /// Signs in on the standard device and starts to synchronize. The session is that of `resume`.
  ///
  /// - Parameter group: the access group of the keychain that the app shares with its extensions.
  public static func signIn(
    to url: URL, as name: String, password: String, group: String? = nil
  ) async throws -> Parley {
    guard let server = ServerAddress(url) else { throw ClientFault.offline("\(url) is not the address of a site") }
    return try await signIn(server, name, password: password, on: .standard(group: group))
  }

  /// Starts with the session of the last sign-in on the standard device, also offline. Nil if there is none.
  ///
  /// - Parameter group: the access group of the keychain that the app shares with its extensions.
  public static func resume(group: String? = nil) async throws(CacheFault) -> Parley? {
    try await resume(on: .standard(group: group))
  }
}

extension Parley.Device {
  /// A device with its cache and pictures in the app's folder of application support, and its session in the keychain; without
  /// a keychain it is in a file that only its user can read.
  ///
  /// - Parameters:
  ///   - folder: nil for `Parley` in the folder of application support.
  ///   - group: the access group of the keychain that the app shares with its extensions.
  public static func standard(in folder: URL? = nil, group: String? = nil) throws(CacheFault) -> Parley.Device {
    let folder = try create(folder)
    #if canImport(Security)
    let credentials: any CredentialStore = KeychainCredential(
      service: Bundle.main.bundleIdentifier ?? "parley", group: group)
    #else
    let credentials: any CredentialStore = CredentialFile(folder.appending(path: "session").path)
    #endif
    var device = Parley.Device(
      over: URLSessionTransport(), credentials: credentials,
      clock: Outbox.Clock { Int64(Date().timeIntervalSince1970 * 1_000) },
      cache: folder.appending(path: "cache.db").path, open: open)
    device.pictures = PictureFile(folder.appending(path: "pictures.db").path)
    return device
  }

  /// Creates the folder, which only its user can open.
  private static func create(_ folder: URL?) throws(CacheFault) -> URL {
    do {
      let folder =
        try folder
        ?? FileManager.default.url(
          for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true
        ).appending(path: "Parley")
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      return folder
    } catch {
      throw .broken("\(error)")
    }
  }

  /// Opens a local file of the outbox, read by offset.
  @Sendable private static func open(_ file: PendingFile) async throws -> FileSource {
    let url = URL(filePath: file.path)
    let size = try url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    return FileSource(name: file.name, size: size) { offset, count in
      let handle = try FileHandle(forReadingFrom: url)
      defer { try? handle.close() }
      try handle.seek(toOffset: UInt64(offset))
      return Array(try handle.read(upToCount: count) ?? Data())
    }
  }
}
