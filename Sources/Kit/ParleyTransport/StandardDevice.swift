// The default session of a program: signing in and resuming without a device of its own.

public import ParleyKit
import ParleyNetworking

extension Parley {
  /// Signs in on the standard device and starts to synchronize. The session is that of `resume()`.
  public static func signIn(to server: ServerAddress, as name: String, password: String) async throws -> Parley {
    try await signIn(server, name, password: password, on: .standard())
  }

  /// Starts with the session of the last sign-in on the standard device, also offline. Nil if there is none.
  public static func resume() async throws -> Parley? { try await resume(on: .standard()) }
}

extension Parley.Device {
  /// A device whose files are in a folder that only its user can open: the session, the cache and pictures. A second session
  /// at the same time has a folder of its own.
  ///
  /// - Parameter folder: nil for one with the program's name, in `$XDG_DATA_HOME` or `~/.local/share`.
  public static func standard(in folder: String? = nil) throws -> Parley.Device {
    let folder = try folder ?? StandardFolder.path
    try StandardFolder.create(folder)
    var device = Parley.Device(
      over: try NetworkTransport(), credentials: CredentialFile(folder + "/session"),
      clock: Outbox.Clock { Clock.wall() / 1_000_000 }, cache: folder + "/cache.db", open: StandardFolder.open)
    device.pictures = PictureFile(folder + "/pictures.db")
    return device
  }
}
