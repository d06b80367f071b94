import API
import ParleyNetworking
import Serving

/// Serves the operator's commands on the control socket.
struct ControlServer: Sendable {
  private let server: Server
  /// The path of the socket may refer to a descriptor of this value. `stop` unlinks the path.
  private let socket: ControlSocket

  init(
    _ api: API, _ origin: String, in data: String, status: StatusReporter? = nil, doctor: DoctorReporter? = nil,
    log: @escaping @Sendable (String) -> Void
  ) async throws {
    socket = try ControlSocket(in: data)
    server = try Server(
      .init(endpoints: [.init(try socket.listen())], loops: 1),
      application: ControlRoutes.make(api, origin, status: status, doctor: doctor, log: log), log: log)
    try await server.start()
  }

  /// Drops requests in progress.
  func stop() async {
    await server.stop(within: 0)
    withExtendedLifetime(socket) {}
  }
}

/// The Unix socket in the data folder through which commands reach the daemon. Only the folder's owner may connect.
struct ControlSocket: Sendable {
  let address: SocketAddress
  /// Keeps `address` valid where it is a path through /proc.
  private let folder: Descriptor?

  private static let name = "control"

  init(in data: String) throws(Settings.UsageError) {
    if let address = SocketAddress("unix:\(data)/\(Self.name)") {
      self.address = address
      folder = nil
      return
    }
    // A socket path has at most 107 bytes (unix(7)). A longer one is addressed through a descriptor of its folder.
    let folder = try FileSystem.open(data)
    self.address = .unix("/proc/self/fd/\(folder.number)/\(Self.name)")
    self.folder = folder
  }

  func listen() throws(SystemError) -> ListeningSocket { try ListeningSocket(binding: address, for: .owner) }
}
