import Dispatch
import Networking

/// Asks where a name leads. The system's call blocks, so it has a thread of its own, and whoever waits does so no longer than
/// they like; the call itself ends when it ends.
enum Lookup {
  static func addresses(
    of name: String, port: UInt16, within nanoseconds: Int64
  ) async throws(CallFailure) -> [SocketAddress] {
    // RFC 6761 §6.3: this name never leaves the machine.
    if name == "localhost", let own = SocketAddress(host: "127.0.0.1", port: port) { return [own] }
    if let numeric = SocketAddress(host: name, port: port) { return [numeric] }
    let result: Result<[SocketAddress], CallFailure> = await withCheckedContinuation { continuation in
      let waiting = Once(continuation, orElse: .failure(.unknownHost(name)))
      DispatchQueue.global().async {
        do throws(SystemError) {
          waiting.give(.success(try SocketAddress.resolve(host: name, port: port)))
        } catch {
          waiting.give(.failure(.unknownHost(name)))
        }
      }
      DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) {
        waiting.give(.failure(.unreachable("nobody says where \(name) is")))
      }
    }
    return try result.get()
  }
}
