import Testing

@testable import ParleyNetworking

@Suite struct StartTLSTests {
  private static let command = Array("STARTTLS\n".utf8)
  private static let reply = Array("go\n".utf8)

  /// The events of both sides, and the actions of the server.
  private struct Sides {
    let server = Collected<Recorder.Event>()
    let client = Collected<Recorder.Event>()
    let pair: SelfSigned

    init() throws { pair = try SelfSigned(names: ["mail.example.org"]) }

    var identity: TLSConfiguration {
      TLSConfiguration(
        role: .server(
          .init(certificates: pair.certificate, key: pair.key, ticketKeys: .init(repeating: 7, count: 80))))
    }

    var trust: TLSConfiguration { TLSConfiguration(role: .client(.roots(pair.certificate)), protocols: []) }

    /// Connects a client that begins TLS after the first input.
    func connect(
      to address: SocketAddress, name: String = "mail.example.org", on loop: EventLoop
    ) async throws {
      let (trust, client) = (trust, client)
      try await loop.connect(to: address, events: client) { event, stream, _ in
        switch event {
        case .opened where client.all.count { $0 == .opened } == 1: stream.write(StartTLSTests.command)
        case .opened: stream.write(Array("secret".utf8))
        case .received where client.all.count == 2:
          #expect(throws: Never.self) { try stream.startTLS(TLSContext(trust), serverName: name) }
        case .ended: stream.finish()
        case .received, .drained, .resumed, .expired, .closed: break
        }
      }
    }

    var hasEnded: Bool { if case .closed = client.all.last { true } else { false } }
    var received: [[UInt8]] {
      client.all.compactMap { if case .received(let bytes) = $0 { bytes } else { nil } }
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `an open connection continues under TLS`(polling: EventLoop.Polling) async throws {
    try await EventLoop.running(polling) { loop in
      let sides = try Sides()
      let identity = sides.identity
      let address = try await loop.listen(
        { event, stream, _ in
          switch event {
          case .received(StartTLSTests.command):
            stream.write(StartTLSTests.reply)
            stream.notifyWhenDrained(to: 0)
          case .drained: #expect(throws: Never.self) { try stream.startTLS(TLSContext(identity), serverName: "") }
          case .received(let bytes):
            stream.write(bytes.reversed())
            stream.finish()
          case .opened, .ended, .resumed, .expired, .closed: break
          }
        }, events: sides.server)
      try await sides.connect(to: address, on: loop)
      #expect(await eventually { sides.hasEnded })
      #expect(
        sides.client.all == [
          .opened, .received(Self.reply), .opened, .received(Array("terces".utf8)), .ended, .closed(isFailed: false),
        ])
    }
  }

  /// Response injection (CVE-2011-0411): input in the clear after the reply is never taken for input under TLS.
  @Test(arguments: EventLoop.Polling.allCases, [1, 1_000, 300_000])
  func `plaintext after the reply ends the connection`(polling: EventLoop.Polling, count: Int) async throws {
    try await EventLoop.running(polling) { loop in
      let sides = try Sides()
      let injected = [UInt8](repeating: UInt8(ascii: "2"), count: count)
      let address = try await loop.listen { event, stream, _ in
        if event == .received(StartTLSTests.command) {
          // The large one begins behind the reply, in the same input.
          stream.write(StartTLSTests.reply + (count > 65_536 ? injected : []))
        } else if case .received = event, count <= 65_536 {
          stream.write(injected)
          stream.finish()
        }
      }
      try await sides.connect(to: address, on: loop)
      #expect(await eventually { sides.hasEnded })
      #expect(sides.received.count == 1 && sides.received.first?.starts(with: Self.reply) == true)
      #expect(sides.client.all.count { $0 == .opened } == 1)
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `the certificate of another host is refused`(polling: EventLoop.Polling) async throws {
    try await EventLoop.running(polling) { loop in
      let sides = try Sides()
      let identity = sides.identity
      let address = try await loop.listen { event, stream, _ in
        if event == .received(StartTLSTests.command) {
          stream.write(StartTLSTests.reply)
          stream.notifyWhenDrained(to: 0)
        } else if event == .drained {
          try? stream.startTLS(TLSContext(identity), serverName: "")
        }
      }
      try await sides.connect(to: address, name: "evil.example.org", on: loop)
      #expect(await eventually { sides.client.all.last == .closed(isFailed: true) })
      #expect(sides.received == [Self.reply])
    }
  }

  @Test func `unsent output and a second session are refused`() async throws {
    try await EventLoop.running(.nestedEpoll) { loop in
      let sides = try Sides()
      let trust = sides.trust
      let faults = Collected<String>()
      let address = try await loop.listen()
      try await loop.connect(to: address, events: sides.client) { event, stream, _ in
        guard event == .opened else { return }
        func begin() {
          do throws(StreamError) {
            try stream.startTLS(TLSContext(trust), serverName: "mail.example.org")
            faults.add("none")
          } catch {
            faults.add("\(error)")
          }
        }
        stream.write([1])
        begin()
        stream.notifyWhenDrained(to: 0)
      }
      #expect(await eventually { sides.client.all.contains(.drained) })
      try await loop.connect(to: address, events: Collected()) { event, stream, _ in
        guard event == .opened else { return }
        for _ in 0..<2 {
          do throws(StreamError) {
            try stream.startTLS(TLSContext(trust), serverName: "mail.example.org")
            faults.add("none")
          } catch {
            faults.add("\(error)")
          }
        }
        stream.abort()
      }
      let refusal = "TLS: the connection is not ready for TLS"
      #expect(await eventually { faults.all == [refusal, "none", refusal] })
    }
  }
}
