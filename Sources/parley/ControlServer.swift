import API
import Serving

/// Answers the commands of the host while the daemon runs.
struct ControlServer: Sendable {
  private let server: Server
  /// The path of the socket may lead through a descriptor of this, until the path is removed.
  private let socket: ControlSocket

  init(
    _ api: API, _ origin: String, in data: String, complain: @escaping @Sendable (String) -> Void
  ) async throws {
    socket = try ControlSocket(in: data)
    server = try Server(
      .init(endpoints: [.init(try socket.listen())], loops: 1),
      site: ControlSite.make(api, origin, complain: complain), complain: complain)
    try await server.start()
  }

  /// Whoever waits for something long is left without an answer.
  func stop() async {
    await server.stop(within: 0)
    withExtendedLifetime(socket) {}
  }
}
