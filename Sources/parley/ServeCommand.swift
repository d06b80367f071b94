// `parley serve`: reads the settings, puts the parts together, and stays until it is told to stop.

import API
import Community
import Glibc
import ParleyHTTPClient
import ParleyNetworking
import ParleyWire
import Previews
import PubSub
import Serving
import Storage
import Web

enum ServeCommand {
  static func run(_ arguments: [String]) async -> Int32 {
    do {
      let settings = try Settings(arguments: arguments, environment: Terminal.environment)
      return try await serve(settings)
    } catch let mistake as Settings.Mistake {
      Terminal.complain(mistake.sentence)
      return 2
    } catch {
      Terminal.complain("\(error)")
      return 1
    }
  }

  private static func serve(_ settings: Settings) async throws -> Int32 {
    let signals = SignalEvents([SIGTERM, SIGINT, SIGHUP])
    let complain: @Sendable (String) -> Void = { Terminal.complain($0) }
    // What can be wrong in the settings is found before anything is made.
    let data = settings.text(.data) ?? "./data"
    let (limits, rates) = (try settings.limits(), try settings.rates())
    let (addresses, others) = (try addresses(settings), try settings.origins(.corsOrigin))
    let eventAge = try settings.number(.keepEvents, in: 1...36_500).map { Int64($0) * 86_400_000 }
    let (loops, polling, log) = (try loops(settings), try polling(settings), try accessLog(settings))
    let asksOthers = try asksOthers(settings)
    let share = try Folder.share(settings.text(.share))
    let certificates = try Certificates(settings, data: data)
    if !settings.all(.redirect).isEmpty, certificates == nil {
      throw Settings.Mistake(
        sentence: "--redirect-listen needs TLS: --tls-certificate and --tls-key, or --self-signed.")
    }

    try Folder.make(data)
    let folder = try Folder.lock(data)
    if folder.hasEndedRestore { complain("A restore that was cut off has been brought to its end.") }
    let sockets = try sockets(settings)
    let redirects = try settings.all(.redirect).map { try bind($0, .redirect) }
    try certificates?.makeIfNeeded(names: names(addresses, sockets))
    let loaded = try certificates?.load()
    checkDescriptors(limits)
    var bounds = Bounds()
    (bounds.fileBytes, bounds.personFileBytes, bounds.placeFileBytes) = (
      limits.file, limits.personFiles, limits.placeFiles
    )
    let publisher = API.publisher()
    let store = try openStore(folder, Folder.migrations(share), complain) { publisher.take($0) }
    let community = Community(store, publisher: publisher, bounds: bounds)
    let outgoing = asksOthers ? try OutgoingClient() : nil
    let previews = outgoing.map { LinkPreviews($0, now: { Clock.wall() / 1_000_000 }) }
    let api = API(community, release: .current, rates: rates, previews: previews)

    let endpoints = sockets.map { socket in
      Server.Configuration.Endpoint(socket, tls: socket.address.port == nil ? nil : loaded?.configuration)
    }
    let server = try Server(
      .init(endpoints: endpoints, loops: loops, polling: polling),
      site: DaemonSite.make(
        api, share: share, limits: limits, addresses: addresses, crossOrigins: others,
        isDevelopment: settings.isOn(.development), complain: complain),
      log: log, complain: complain)
    try await server.start()
    let origin = HostOrigin.text(addresses, endpoints.map { ($0.socket.address, $0.tls != nil) })
    let control = await controlServer(api, origin, data, complain)
    let redirect = try await redirectServer(redirects, addresses, sockets, limits, complain)
    let housekeeper = Housekeeping(store, eventAge: eventAge)
    let housekeeping = every(Housekeeping.interval) { await housekeeper.tick() }
    let clock = every(.seconds(1)) { community.hub.tick(now: Clock.wall() / 1_000_000) }
    // By itself: a loop that is busy answers late, and time goes on meanwhile.
    let relief = every(.seconds(1)) { await server.relieve() }
    try await announceSetUp(api.community, origin)
    announce(endpoints, redirect, certificates?.isSelfSigned == true ? loaded?.fingerprint : nil)

    for await signal in signals.events {
      guard signal == SIGHUP else { break }
      await reload(certificates, server, endpoints)
    }
    // Who waits for something to happen waits no longer.
    clock.cancel()
    relief.cancel()
    await relief.value
    community.hub.close()
    await redirect?.stop(within: 0)
    await stop(server, signals.events)
    // Nobody asks any longer: what was asked is brought to the disk.
    housekeeping.cancel()
    await housekeeping.value
    await control?.stop()
    outgoing?.close()
    await store.close()
    return 0
  }

  static func openStore(
    _ folder: DataFolder, _ migrations: String, _ complain: @escaping @Sendable (String) -> Void,
    deliver: @escaping @Sendable (Delivery) -> Void = { _ in }
  ) throws(Settings.Mistake) -> Store {
    do throws(StoreFault) {
      let store = try Store(
        folder, migrations: migrations, jobs: Community.jobs, clock: { Clock.wall() / 1_000_000 }, deliver: deliver,
        complain: complain)
      if !store.migrated.isEmpty { complain("Applied to the database: \(store.migrated.joined(separator: ", ")).") }
      return store
    } catch {
      throw Settings.Mistake(sentence: error.description)
    }
  }

  /// Again and again until it is cancelled.
  private static func every(_ interval: Duration, _ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task {
      while !Task.isCancelled {
        await work()
        // Ends early, and with an error, when it is cancelled: that is what the loop asks.
        try? await Task.sleep(for: interval)
      }
    }
  }

  private static func checkDescriptors(_ limits: Limits) {
    let descriptors = DescriptorLimit.raise()
    // Files, loops and the database need a few of their own.
    guard descriptors < limits.connections + 64 else { return }
    Terminal.complain(
      "The system allows \(descriptors) descriptors, too few for --limit-connections \(limits.connections): "
        + "beyond them people wait. ulimit -n, or LimitNOFILE in the unit, allows more.")
  }

  /// As long as nobody looks after the place, each start tells the host how to come in first.
  private static func announceSetUp(_ community: Community, _ origin: String) async throws {
    guard let code = try await community.setupLink() else { return }
    Terminal.print("make this place yours: \(origin)/setup/\(code)\n")
  }

  private static func announce(
    _ endpoints: [Server.Configuration.Endpoint], _ redirect: Server?, _ fingerprint: String?
  ) {
    if let fingerprint { Terminal.print("certificate fingerprint (SHA-256) \(fingerprint)\n") }
    for endpoint in endpoints {
      let scheme = endpoint.tls == nil ? "http" : "https"
      let address = endpoint.socket.address
      Terminal.print("listening on \(address.port == nil ? "\(address)" : "\(scheme)://\(address)")\n")
    }
    for address in redirect?.addresses ?? [] { Terminal.print("redirecting from http://\(address)\n") }
    ServiceManager.notify("READY=1")
  }

  /// Drains, and says so where somebody has to wait; a second signal ends the waiting.
  private static func stop(_ server: Server, _ events: AsyncStream<Int32>) async {
    ServiceManager.notify("STOPPING=1")
    let busy = server.connectionCount
    if busy > 0 { Terminal.complain("Stopping: \(busy) connections may finish. A second signal ends them now.") }
    let draining = Task { await server.stop() }
    let impatience = Task {
      for await signal in events where signal != SIGHUP { return await server.stop(within: 0) }
      return true
    }
    let isClean = await draining.value
    impatience.cancel()
    if !isClean { Terminal.complain("Some connections were still busy and have been cut off.") }
  }

  /// A certificate that can't be used leaves the old one in place.
  private static func reload(
    _ certificates: Certificates?, _ server: Server, _ endpoints: [Server.Configuration.Endpoint]
  ) async {
    guard let certificates else { return }
    ServiceManager.notify("RELOADING=1\nMONOTONIC_USEC=\(Clock.monotonic() / 1_000)")
    do {
      let loaded = try certificates.load()
      for (index, endpoint) in endpoints.enumerated() where endpoint.tls != nil {
        try await server.use(loaded.configuration, forEndpoint: index)
      }
      Terminal.complain("The certificate was read again: \(loaded.fingerprint)")
    } catch let mistake as Settings.Mistake {
      Terminal.complain("The old certificate stays. \(mistake.sentence)")
    } catch {
      Terminal.complain("The old certificate stays. \(error)")
    }
    ServiceManager.notify("READY=1")
  }

  // MARK: Reading the settings

  private static func sockets(_ settings: Settings) throws -> [ListeningSocket] {
    let inherited = ServiceManager.inheritedSockets()
    let wanted = settings.all(.listen)
    if !inherited.isEmpty, wanted.isEmpty { return inherited }
    return inherited
      + (try (wanted.isEmpty ? [Setting.listen.fallback ?? ""] : wanted).map { try bind($0, .listen) })
  }

  private static func bind(_ text: String, _ setting: Setting) throws -> ListeningSocket {
    guard let address = SocketAddress(text) else {
      throw Settings.Mistake(
        sentence: "\(setting.flag) takes an address with a port such as 127.0.0.1:8080 or [::1]:8080, or unix:PATH, "
          + "not \"\(text)\".")
    }
    do {
      return try ListeningSocket(binding: address)
    } catch {
      throw Settings.Mistake(sentence: "\(error). \(setting.flag) chooses another address.")
    }
  }

  private static func addresses(_ settings: Settings) throws(Settings.Mistake) -> Addresses {
    var trusted: [AddressBlock] = []
    for text in settings.all(.trustedProxy) {
      guard let block = AddressBlock(text) else {
        throw Settings.Mistake(
          sentence: "--trusted-proxy takes an address or a block such as 10.0.0.0/8, not \"\(text)\".")
      }
      trusted.append(block)
    }
    let text = settings.text(.proxyFields) ?? "x-forwarded"
    guard let proxyFields = Addresses.ProxyFields(rawValue: text) else {
      throw Settings.Mistake(sentence: "--proxy-fields takes x-forwarded or forwarded, not \"\(text)\".")
    }
    return Addresses(publicOrigins: try settings.origins(.publicURL), trusted: trusted, proxyFields: proxyFields)
  }

  private static func loops(_ settings: Settings) throws(Settings.Mistake) -> Int {
    try settings.number(.loops, in: 1...256) ?? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  }

  private static func polling(_ settings: Settings) throws(Settings.Mistake) -> EventLoop.Polling {
    guard let text = settings.text(.polling) else { return .nestedEpoll }
    guard let polling = EventLoop.Polling(rawValue: text) else {
      throw Settings.Mistake(sentence: "--polling takes epoll or sources, not \"\(text)\".")
    }
    return polling
  }

  private static func asksOthers(_ settings: Settings) throws(Settings.Mistake) -> Bool {
    switch settings.text(.outgoing) ?? "on" {
    case "on": return true
    case "off": return false
    case let text: throw Settings.Mistake(sentence: "--outgoing takes on or off, not \"\(text)\".")
    }
  }

  private static func accessLog(_ settings: Settings) throws(Settings.Mistake) -> AccessLog? {
    let text = settings.text(.log) ?? "text"
    if text == "none" { return nil }
    guard let format = AccessLog.Format(rawValue: text) else {
      throw Settings.Mistake(sentence: "--log-format takes text, json or none, not \"\(text)\".")
    }
    return AccessLog(format: format, descriptor: STDERR_FILENO)
  }

  /// What a certificate of our own is made out to.
  private static func names(_ addresses: Addresses, _ sockets: [ListeningSocket]) -> [String] {
    var names = addresses.publicOrigins.map(\.host) + ["localhost", "127.0.0.1", "::1"]
    for socket in sockets where socket.address.port != nil { names.append(socket.address.host) }
    var seen: Set<String> = []
    return names.filter { $0 != "0.0.0.0" && $0 != "::" && seen.insert($0).inserted }
  }

  /// A file system that has no sockets keeps nobody from talking.
  private static func controlServer(
    _ api: API, _ origin: String, _ data: String, _ complain: @escaping @Sendable (String) -> Void
  ) async -> ControlServer? {
    do {
      return try await ControlServer(api, origin, in: data, complain: complain)
    } catch {
      complain("Commands such as parley backup can't reach this server: \(error)")
      return nil
    }
  }

  private static func redirectServer(
    _ redirects: [ListeningSocket], _ addresses: Addresses, _ sockets: [ListeningSocket], _ limits: Limits,
    _ complain: @escaping @Sendable (String) -> Void
  ) async throws -> Server? {
    guard !redirects.isEmpty, let port = sockets.compactMap(\.address.port).first else { return nil }
    let server = try Server(
      .init(endpoints: redirects.map { .init($0) }, loops: 1),
      site: DaemonSite.redirect(to: addresses, port: Int(port), limits: limits), complain: complain)
    try await server.start()
    return server
  }
}

/// Signals as a sequence, from before the first thing that a signal could interrupt.
private struct SignalEvents {
  let events: AsyncStream<Int32>
  private let signals: Signals

  init(_ numbers: [Int32]) {
    let (events, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(8))
    let signals = Signals()
    for number in numbers { signals.on(number) { continuation.yield(number) } }
    self.events = events
    self.signals = signals
  }
}
