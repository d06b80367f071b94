import ParleyNetworking

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
