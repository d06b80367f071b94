import ParleyKit
import ParleyNetworking

extension Trust {
  /// As our sockets take it.
  var forTLS: TLSConfiguration.Trust {
    switch self {
    case .system: .system
    case .fingerprint(let digest): .fingerprint(digest)
    }
  }
}
