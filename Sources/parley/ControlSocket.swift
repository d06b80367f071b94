import ParleyNetworking

/// Where commands find the daemon that has a data folder: a socket in that folder, for its owner alone.
struct ControlSocket: Sendable {
  let address: SocketAddress
  /// Keeps the short way to a long path open.
  private let folder: Descriptor?

  private static let name = "control"

  init(in data: String) throws(Settings.Mistake) {
    if let address = SocketAddress("unix:\(data)/\(Self.name)") {
      self.address = address
      folder = nil
      return
    }
    // The system takes no path of more than 107 bytes (unix(7)), but any number of bytes may hide behind a descriptor.
    let folder = try Folder.open(data)
    self.address = .unix("/proc/self/fd/\(folder.number)/\(Self.name)")
    self.folder = folder
  }

  func listen() throws(SystemError) -> ListeningSocket { try ListeningSocket(binding: address, for: .owner) }
}
