import Glibc
import ParleyCrypto
import ParleyNetworking
import ParleyWire
import Serving
import Synchronization
import Web

/// The benchmark server. SIGTERM and SIGINT stop it.
struct Serve {
  private let addresses: [SocketAddress]
  private let loops: Int
  private let polling: EventLoop.Polling
  private let identity: TLSConfiguration.Identity?

  init(_ words: [String]) throws {
    let arguments = try Arguments(
      words, options: ["listen", "loops", "polling", "tls-certificate", "tls-key"], flags: ["tls"])
    if let argument = arguments.values.first { throw UsageError("\(argument) is an unknown argument.") }
    let listen = arguments.all("listen")
    addresses = try (listen.isEmpty ? ["127.0.0.1:0"] : listen).map { text in
      guard let address = SocketAddress(text) else { throw UsageError("--listen is HOST:PORT, not \(text).") }
      return address
    }
    loops = try arguments.integer("loops", in: 1...256, or: 2)
    let name = arguments.text("polling") ?? EventLoop.Polling.nestedEpoll.rawValue
    guard let polling = EventLoop.Polling(rawValue: name) else {
      throw UsageError("--polling is epoll or sources, not \(name).")
    }
    self.polling = polling
    identity = try Self.identity(arguments)
  }

  private static func identity(_ arguments: Arguments) throws -> TLSConfiguration.Identity? {
    let tickets = (0..<TLSConfiguration.Identity.ticketKeyLength).map { _ in UInt8.random(in: 0...255) }
    switch (arguments.text("tls-certificate"), arguments.text("tls-key"), arguments.has("tls")) {
    case (let certificate?, let key?, false):
      return .init(certificates: try FileBytes.read(certificate), key: try FileBytes.read(key), ticketKeys: tickets)
    case (nil, nil, true):
      let pair = try SelfSigned(names: ["localhost", "127.0.0.1"])
      return .init(certificates: pair.certificate, key: pair.key, ticketKeys: tickets)
    case (nil, nil, false):
      return nil
    default:
      throw UsageError("Give --tls alone, or --tls-certificate and --tls-key together.")
    }
  }

  func run() async throws {
    let running = Mutex<Server?>(nil)
    let site = BenchSite.make { running.withLock { $0?.loops ?? [] } }
    let tls = identity.map { TLSConfiguration(role: .server($0)) }
    let endpoints = try addresses.map { Server.Configuration.Endpoint(try ListeningSocket(binding: $0), tls: tls) }
    let server = try Server(.init(endpoints: endpoints, loops: loops, polling: polling), application: site)
    running.withLock { $0 = server }

    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let signals = Signals()
    for number in [SIGTERM, SIGINT] { signals.on(number) { end.finish() } }
    try await server.start()
    if let fingerprint = identity.flatMap({ Certificate.list(fromPEM: $0.certificates).first?.fingerprint }) {
      print("fingerprint \(Hex.text(fingerprint))")
    }
    for address in server.addresses {
      let scheme = tls == nil ? "http" : "https"
      print("listening on \(address.port == nil ? "" : "\(scheme)://")\(address)")
    }
    fflush(nil)
    for await _ in ends {}
    await server.stop()
    withExtendedLifetime(signals) {}
  }
}
