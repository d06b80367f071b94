import API
import Serving

/// Serves the operator's commands on the control socket.
struct ControlServer: Sendable {
  private let server: Server
  /// The path of the socket may refer to a descriptor of this value. `stop` unlinks the path.
  private let socket: ControlSocket

  init(
    _ api: API, _ origin: String, in data: String, log: @escaping @Sendable (String) -> Void
  ) async throws {
    socket = try ControlSocket(in: data)
    server = try Server(
      .init(endpoints: [.init(try socket.listen())], loops: 1),
      application: ControlRoutes.make(api, origin, log: log), log: log)
    try await server.start()
  }

  /// Drops requests in progress.
  func stop() async {
    await server.stop(within: 0)
    withExtendedLifetime(socket) {}
  }
}
