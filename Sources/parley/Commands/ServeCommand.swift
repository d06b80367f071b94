// `parley serve`: reads the settings, starts the daemon and runs until SIGTERM or SIGINT.

import API
import Community
import Dialects
import Glibc
import ParleyModel
import ParleyNetworking
import ParleyWire
import Serving
import Storage
import Web

extension Command {
  static let serve = Command(
    "serve", summary: "run the server (parley serve --help lists the settings)", settings: Setting.all,
    help: Help.serve, run: ServeCommand.run)
}

enum ServeCommand {
  static func run(_ arguments: [String]) async -> Int32 {
    do {
      try Settings.checkVariables(Terminal.environment)
      let settings = try Settings(arguments: arguments, environment: Terminal.environment)
      return try await serve(settings, arguments, StartLimit())
    } catch let error as Settings.UsageError {
      Terminal.log(error.message)
      return 2
    } catch {
      Terminal.log("\(error)")
      return 1
    }
  }

  private static func serve(_ settings: Settings, _ arguments: [String], _ start: StartLimit) async throws -> Int32 {
    let signals = SignalEvents([SIGTERM, SIGINT, SIGHUP])
    let logError: @Sendable (String) -> Void = { Terminal.log($0) }
    // Validate all settings before creating files.
    let checked = try DaemonSettings(settings)
    let (data, addresses, certificates) = (checked.data, checked.addresses, checked.certificates)
    Allocator.configure(cores: checked.loops)
    let share = try FileSystem.share(settings.text(.share))
    let folder = try openDataFolder(data)
    let sockets = try DaemonSockets(settings)
    let loaded = try loadCertificate(certificates, sockets, checked)
    let community = try await openCommunity(folder, FileSystem.migrations(share), checked, logError)
    let store = community.store
    let limits = try settings.limits(room: await store.roomForFiles())
    community.use(Bounds(of: limits))
    checkDescriptors(limits)
    var outgoing = try await Outgoing(checked, community, share: share, log: logError)
    let api = makeAPI(community, checked, outgoing, logError)

    let probes = DoctorProbes(addresses)
    let scheduled = ScheduledBackups(store, checked.backups, program: API.Release.current.version)
    let hook = BackupHook(checked.backupHook, scheduled, store, log: logError)
    let metrics = Metrics(community, push: outgoing.push, mail: outgoing.mail, certificates: certificates, hook: hook)
    let endpoints = sockets.endpoints(tls: loaded?.configuration)
    let accessLog = AccessLog(checked.accessLog, descriptor: STDERR_FILENO)
    let server = try Server(
      .init(endpoints: endpoints, loops: checked.loops, polling: checked.polling),
      application: DaemonRoutes.make(
        api, share: share, limits: limits, addresses: addresses, crossOrigins: checked.crossOrigins,
        isDevelopment: settings.isOn(.development), dialects: Dialects(checked.dialects, api), metrics: metrics,
        probes: probes, log: logError),
      accessLog: accessLog, log: logError)
    try await server.start()
    metrics.use(server)
    let metricsServer = try await metricsServer(sockets.metrics, metrics, limits, logError)
    outgoing.start()
    let events = await machineEvents(folder, store)
    let origin = PublicOrigin.text(addresses, endpoints.map { ($0.socket.address, $0.tls != nil) })
    let status = StatusReporter(
      api, origin, certificates, publicNames: addresses.publicOrigins.map(\.host), push: outgoing.push,
      mail: outgoing.mail, backups: scheduled, backupInterval: checked.backups?.interval, hook: hook, events: events)
    status.use(server)
    let running = RunningSettings(checked, arguments: arguments)
    let doctor = DoctorReporter(probes, status, running) { server.limits }
    let control = await controlServer(api, origin, data, status, doctor, logError)
    let challenges = ChallengeAnswers()
    let redirect = try await redirectServer(sockets, loaded != nil, addresses, challenges, limits, logError)
    let renewal = CertificateRenewal(certificates, challenges, data: data, log: logError) {
      await reloadCertificates(certificates, server, endpoints)
    }
    // A check frees a cache and the schema of its connection.
    let housekeeper = Housekeeping(store, eventAge: checked.eventAge, checksIntegrity: true) { Allocator.trim() }
    let alerts = AlertMonitor(checked.alerts, community, status, data: folder.path, origin: origin, log: logError)
    let writing = writingTasks(community, housekeeper, scheduled, hook, alerts)
    let checkCertificate = certificateCheck(certificates, addresses)
    let watching = periodicTasks(server, community, events, renewal, checkCertificate)
    try await printSetupLink(api.community, origin)
    printAddresses(endpoints, redirect, metricsServer, certificates?.isSelfSigned == true ? loaded?.fingerprint : nil)
    finishStart(data, start)

    let reload = SettingsReload(
      running, api: api, server: server, accessLog: accessLog, housekeeper: housekeeper,
      backups: scheduled, hook: hook, status: status, alerts: alerts, log: logError)
    await reloadAtHangUp(signals.events) {
      await reload.run()
      await reloadCertificates(certificates, server, endpoints)
      await renewal?.retry()
      checkCertificate()
    }
    await watching.stop()
    await stopRequests(community, server, [redirect, metricsServer], signals.events)
    // Commit pending writes.
    await writing.stop()
    await control?.stop()
    await outgoing.stop()
    await store.close()
    events.stop()
    return 0
  }

  private static func machineEvents(_ folder: DataFolder, _ store: Store) async -> MachineEvents {
    let events = MachineEvents(data: folder.path)
    events.start(now: Clock.wall() / 1_000_000)
    if let restore = try? await store.lastRestore() { events.restored(restore.report, at: restore.at) }
    return events
  }

  private static func makeAPI(
    _ community: Community, _ checked: DaemonSettings, _ outgoing: Outgoing,
    _ logError: @escaping @Sendable (String) -> Void
  ) -> API {
    API(
      community, release: .current, rates: checked.rates, previews: outgoing.requests?.previews,
      outgoing: outgoing.requests?.webhooks, commands: outgoing.requests?.commands,
      push: outgoing.push?.service, mail: outgoing.mail?.service, issuers: outgoing.issuers?.service, log: logError)
  }

  private static func openCommunity(
    _ folder: DataFolder, _ migrations: String, _ settings: DaemonSettings,
    _ logError: @escaping @Sendable (String) -> Void
  ) async throws -> Community {
    let publisher = API.publisher()
    let store = try openStore(folder, migrations, logError) { publisher.enqueue($0) }
    await store.eraseAgain()
    return Community(store, publisher: publisher, allowsPasswordSignIn: settings.allowsPasswordSignIn)
  }

  static func openStore(
    _ folder: DataFolder, _ migrations: String, _ logError: @escaping @Sendable (String) -> Void,
    deliver: @escaping @Sendable (Delivery) -> Void = { _ in }
  ) throws(Settings.UsageError) -> Store {
    do throws(StoreFault) {
      let store = try Store(
        folder, migrations: migrations, jobs: Community.jobs, keepsReserve: true, clock: { Clock.wall() / 1_000_000 },
        deliver: deliver,
        log: logError)
      if !store.migrated.isEmpty {
        logError(
          LogEvent.migration.line(["result": "ok"], "Applied migrations: \(store.migrated.joined(separator: ", ")).")
        )
      }
      return store
    } catch {
      throw Settings.UsageError(message: error.description)
    }
  }

  private static func openDataFolder(_ data: String) throws -> DataFolder {
    try FileSystem.makeFolder(data)
    if let mode = FileSystem.openPermissions(data) {
      Terminal.log(
        "Other users of this machine can open the data folder \(data) (mode \(mode)). Close it: chmod 700 \(data)")
    }
    let folder = try FileSystem.lock(data)
    if folder.hasEndedRestore { Terminal.log(.restore, ["result": "ok"], "An interrupted restore was completed.") }
    return folder
  }

  /// Nil without TLS.
  private static func loadCertificate(
    _ certificates: Certificates?, _ sockets: DaemonSockets, _ checked: DaemonSettings
  ) throws -> (configuration: TLSConfiguration, digest: [UInt8], fingerprint: String)? {
    if certificates?.authority != nil, sockets.redirects.isEmpty {
      throw checked.settings.mistake(
        .acme,
        "needs \(Setting.redirect.flag) [::]:80: the authority checks the name by a request to port 80.")
    }
    try certificates?.makeIfNeeded(names: sockets.certificateNames(checked.addresses))
    return try certificates?.load()
  }

  /// Warns of a certificate, now and once a day.
  private static func certificateCheck(
    _ certificates: Certificates?, _ addresses: Addresses
  ) -> @Sendable () -> Void {
    let names = addresses.publicOrigins.map(\.host)
    let check: @Sendable () -> Void = {
      certificates?.warnings(publicNames: names, now: Clock.wall() / 1_000_000_000).forEach {
        Terminal.log(.certificate, ["result": "warning"], $0)
      }
    }
    check()
    return check
  }

  /// Starts the tasks that write: housekeeping, exports, backups and their copies, alerts.
  private static func writingTasks(
    _ community: Community, _ housekeeper: Housekeeping, _ scheduled: ScheduledBackups, _ hook: BackupHook,
    _ alerts: AlertMonitor
  ) -> PeriodicTasks {
    var tasks = PeriodicTasks()
    tasks.add(every: Housekeeping.interval) { await housekeeper.tick() }
    // A stop does not wait for the archive: the next start writes it.
    tasks.add(every: Housekeeping.interval) {
      Task { await community.writeExports(program: API.Release.current.version) }
    }
    // The next backup waits for the copy of the last one, since it may remove it.
    tasks.add(every: ScheduledBackups.checkInterval) {
      if await hook.isCopying { return }
      await scheduled.makeIfDue()
      await scheduled.testIfDue()
      await hook.runIfDue()
    }
    tasks.add(every: BackupHook.interval) { await hook.runIfDue() }
    tasks.add(every: AlertMonitor.interval) { await alerts.check() }
    return tasks
  }

  /// Starts the tasks that write nothing: presence, memory, the certificate, the watchdog.
  private static func periodicTasks(
    _ server: Server, _ community: Community, _ events: MachineEvents, _ renewal: CertificateRenewal?,
    _ checkCertificate: @escaping @Sendable () -> Void
  ) -> PeriodicTasks {
    var tasks = PeriodicTasks()
    tasks.add(every: .seconds(1)) {
      let (monotonic, wall) = (Clock.monotonic() / 1_000_000, Clock.wall() / 1_000_000)
      community.hub.tick(now: monotonic, wall: wall)
      events.examineClock(wall: wall, monotonic: monotonic)
    }
    // On its own thread: under load the shared pool is busy, too.
    tasks.add(every: .seconds(1), on: SerialQueue("parley.memory")) { await server.shedMemory() }
    tasks.add(every: .seconds(86_400), isDelayed: true) { checkCertificate() }
    if let renewal { tasks.add(every: CertificateRenewal.interval) { await renewal.renewIfDue() } }
    if let interval = ServiceManager.watchdogInterval {
      tasks.add(every: interval / 2) {
        // A blocked event loop sends nothing, and the service manager restarts the daemon.
        await server.waitForLoops()
        ServiceManager.notify("WATCHDOG=1")
      }
    }
    return tasks
  }

  private static func checkDescriptors(_ limits: Limits) {
    let descriptors = DescriptorLimit.raise()
    guard descriptors < limits.connections + DescriptorLimit.reserved else { return }
    Terminal.log(
      "The limit of \(descriptors) file descriptors is too low for --limit-connections \(limits.connections). "
        + "Raise it with ulimit -n, or LimitNOFILE in the unit.")
  }

  /// Prints the setup link at each start until the site has an owner.
  private static func printSetupLink(_ community: Community, _ origin: String) async throws {
    guard let code = try await community.createSetupLink() else { return }
    Terminal.print("set up this site: \(origin)/setup/\(code)\n")
  }

  private static func printAddresses(
    _ endpoints: [Server.Configuration.Endpoint], _ redirect: Server?, _ metrics: Server?, _ fingerprint: String?
  ) {
    for address in metrics?.addresses ?? [] { Terminal.print("metrics on http://\(address)/metrics\n") }
    if let fingerprint { Terminal.print("certificate fingerprint (SHA-256) \(fingerprint)\n") }
    for endpoint in endpoints {
      let scheme = endpoint.tls == nil ? "http" : "https"
      let address = endpoint.socket.address
      Terminal.print("listening on \(address.port == nil ? "\(address)" : "\(scheme)://\(address)")\n")
    }
    for address in redirect?.addresses ?? [] { Terminal.print("redirecting from http://\(address)\n") }
  }

  private static func finishStart(_ data: String, _ start: StartLimit) {
    start.end()
    ServiceManager.notify("READY=1")
    Terminal.log(.start, ["version": version, "data": data])
    // The start has freed buffers of migrations and checks.
    Allocator.trim()
  }

  /// Runs `reload` at each SIGHUP. Returns at the first other signal.
  private static func reloadAtHangUp(_ events: AsyncStream<Int32>, reload: () async -> Void) async {
    for await signal in events {
      guard signal == SIGHUP else { return }
      ServiceManager.notify("RELOADING=1\nMONOTONIC_USEC=\(Clock.monotonic() / 1_000)")
      await reload()
      ServiceManager.notify("READY=1")
    }
  }

  /// Ends long polls and event streams, then all connections.
  private static func stopRequests(
    _ community: Community, _ server: Server, _ others: [Server?], _ events: AsyncStream<Int32>
  ) async {
    community.hub.close()
    for other in others { await other?.stop(within: 0) }
    await stop(server, events)
  }

  /// Drains the connections. A second signal closes them.
  private static func stop(_ server: Server, _ events: AsyncStream<Int32>) async {
    ServiceManager.notify("STOPPING=1")
    let busy = server.connectionCount
    Terminal.log(.stop, ["connections": "\(busy)"])
    if busy > 0 { Terminal.log("Stopping: waiting for \(busy) connections. A second signal closes them now.") }
    let draining = Task { await server.stop() }
    let secondSignal = Task {
      for await signal in events where signal != SIGHUP { return await server.stop(within: 0) }
      return true
    }
    let isClean = await draining.value
    secondSignal.cancel()
    if !isClean { Terminal.log("Closed connections that were still busy.") }
  }

  /// Reloads the certificate. On an error the current one stays in use.
  private static func reloadCertificates(
    _ certificates: Certificates?, _ server: Server, _ endpoints: [Server.Configuration.Endpoint]
  ) async {
    guard let certificates else { return }
    do {
      let loaded = try certificates.load()
      for (index, endpoint) in endpoints.enumerated() where endpoint.tls != nil {
        try await server.use(loaded.configuration, forEndpoint: index)
      }
      Terminal.log(.certificate, ["result": "ok"], "Reloaded the certificate: \(loaded.fingerprint)")
    } catch let error as Settings.UsageError {
      Terminal.log(.certificate, ["result": "failed"], "Keeping the current certificate. \(error.message)")
    } catch {
      Terminal.log(.certificate, ["result": "failed"], "Keeping the current certificate. \(error)")
    }
  }

  // MARK: Other servers

  /// Nil if the file system has no sockets. The daemon serves without its control socket then.
  private static func controlServer(
    _ api: API, _ origin: String, _ data: String, _ status: StatusReporter, _ doctor: DoctorReporter,
    _ logError: @escaping @Sendable (String) -> Void
  ) async -> ControlServer? {
    do {
      return try await ControlServer(api, origin, in: data, status: status, doctor: doctor, log: logError)
    } catch {
      logError("Can't open the control socket, which parley backup and other commands need: \(error)")
      return nil
    }
  }

  private static func metricsServer(
    _ socket: ListeningSocket?, _ metrics: Metrics, _ limits: Limits, _ logError: @escaping @Sendable (String) -> Void
  ) async throws -> Server? {
    guard let socket else { return nil }
    let server = try Server(
      .init(endpoints: [.init(socket)], loops: 1), application: metrics.application(limits: limits), log: logError)
    try await server.start()
    return server
  }

  private static func redirectServer(
    _ sockets: DaemonSockets, _ isEncrypted: Bool, _ addresses: Addresses, _ challenges: ChallengeAnswers,
    _ limits: Limits, _ logError: @escaping @Sendable (String) -> Void
  ) async throws -> Server? {
    guard !sockets.redirects.isEmpty, let port = sockets.main.compactMap(\.address.port).first else { return nil }
    guard isEncrypted else {
      throw Settings.UsageError(
        message: "The socket \(InheritedSocket.redirectName) needs TLS: --tls-certificate and --tls-key, or --acme.")
    }
    let server = try Server(
      .init(endpoints: sockets.redirects.map { .init($0) }, loops: 1),
      application: DaemonRoutes.redirect(to: addresses, port: Int(port), challenges: challenges, limits: limits),
      log: logError)
    try await server.start()
    return server
  }
}

/// Signals as an async sequence. Created first, so that no signal interrupts the start.
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
