import Foundation
import Testing

@testable import ParleyNetworking

struct ListenerTests {
  private let path = NSTemporaryDirectory() + "parley-\(UInt64.random(in: .min ... .max)).sock"

  /// Whether the server at this address echoes.
  private static func echoes(_ loop: EventLoop, at address: SocketAddress) async throws -> Bool {
    let events = Collected<Recorder.Event>()
    try await loop.connect(to: address, events: events) { event, stream, _ in
      if event == .opened { stream.write([7]) }
      if case .received = event { stream.finish() }
    }
    return await eventually { if case .closed = events.all.last { true } else { false } }
      && events.all.contains(.received([7]))
  }

  private static let echo: @Sendable (Recorder.Event, ParleyNetworking.Stream, isolated EventLoop) -> Void = {
    event, stream, _ in
    if case .received(let bytes) = event { stream.write(bytes) }
    if event == .ended { stream.finish() }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `port 0 selects a free port and reports it`(polling: EventLoop.Polling) async throws {
    try await EventLoop.running(polling) { loop in
      let first = try await loop.listen(Self.echo)
      let second = try await loop.listen(Self.echo)
      #expect(first.port != 0)
      #expect(first != second)
      #expect(try await Self.echoes(loop, at: first))
      #expect(try await Self.echoes(loop, at: second))
      #expect(throws: SystemError.self) { try ListeningSocket(binding: first) }
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a socket path is replaced only if its process is dead`(polling: EventLoop.Polling) async throws {
    let path = self.path
    defer { unlink(path) }
    try await EventLoop.running(polling) { loop in
      // The socket file of a killed process.
      let stale = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      #expect(SocketAddress.unix(path).withSystem { bind(stale, $0, $1) } == 0)
      close(stale)
      let address = try await loop.listen(at: .unix(path), Self.echo)
      #expect(address == .unix(path))
      #expect(throws: SystemError.self) { try ListeningSocket(binding: .unix(path)) }
      for _ in 0..<2 {
        let isServed = try await Self.echoes(loop, at: address)
        #expect(isServed)
      }
    }
  }

  @Test func `a private socket path has mode 0600 and identifies its peer`() throws {
    defer { unlink(path) }
    let socket = try ListeningSocket(binding: .unix(path), for: .owner)
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    var ends: [Int32] = [0, 0]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let (near, far) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    #expect(near.peerUser == geteuid() && far.peerUser == geteuid())
    #expect(socket.isAllowed(near))
    // Other descriptors have no peer user and are refused where one is required.
    #expect(!socket.isAllowed(Descriptor(owning: open("/dev/null", O_RDONLY))))
  }

  @Test func `a regular file is not replaced`() throws {
    defer { unlink(path) }
    try Data("seeds".utf8).write(to: URL(fileURLWithPath: path))
    #expect(throws: SystemError.self) { try ListeningSocket(binding: .unix(path)) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "seeds")
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `closing refuses connections at once and removes the path`(polling: EventLoop.Polling) async throws {
    for address in [SocketAddress.ipv4(0x7f00_0001, port: 0), .unix(path)] {
      let socket = try ListeningSocket(binding: address)
      try await EventLoop.running(polling) { loop in
        try await Self.openAndClose(socket, on: loop)
        let events = Collected<Recorder.Event>()
        do {
          try await loop.connect(to: socket.address, events: events)
          #expect(await eventually { events.all == [.closed(isFailed: true)] })
        } catch is StreamError {}  // A Unix socket refuses at once.
      }
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test func `an inherited socket stays open for the next process`() async throws {
    let kept = try ListeningSocket(binding: .unix(path))
    defer { unlink(path) }
    let inherited = ListeningSocket(inheriting: Descriptor(owning: dup(kept.descriptor.number)))
    #expect(inherited.address == .unix(path))
    try await EventLoop.running(.nestedEpoll) { loop in
      try await Self.openAndClose(inherited, on: loop)
      #expect(access(path, F_OK) == 0)
      // The connection is in the backlog.
      let events = Collected<Recorder.Event>()
      try await loop.connect(to: .unix(path), events: events)
      #expect(await eventually { events.all == [.opened] })
    }
  }

  private static func openAndClose(_ socket: ListeningSocket, on loop: isolated EventLoop) throws {
    try Listener.start(socket, loops: [loop], on: loop, serve: { _, _, _ in }, log: { _ in }).close(on: loop)
  }

  @Test func `OpenSSL parses the self-signed certificate`() throws {
    let identity = try SelfSigned(names: ["garden.example", "127.0.0.1", "::1"])
    try Data(identity.certificate + identity.key).write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl", "x509", "-in", path, "-noout", "-text", "-fingerprint", "-sha256"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(text.contains("DNS:garden.example, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1"))
    #expect(text.contains("ASN1 OID: prime256v1"))
    #expect(text.contains("TLS Web Server Authentication"))
    let fingerprint = try #require(Certificate.list(fromPEM: identity.certificate).first?.fingerprint)
    #expect(
      text.contains(
        fingerprint.map { String($0 >> 4, radix: 16, uppercase: true) + String($0 & 15, radix: 16, uppercase: true) }
          .joined(separator: ":")))
  }
}
