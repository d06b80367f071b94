import Foundation
import ParleyNetworking
import ParleyWire
import Testing
import Web

/// TLS with OpenSSL's own client as the independent peer.
struct TLSTests {
  @Test(arguments: ["tls1_2", "tls1_3"], EventLoop.Polling.allCases)
  func `both versions work, with forward secrecy and ALPN`(
    version: String, polling: EventLoop.Polling
  ) async throws {
    try await serving(garden(), Variant(polling: polling), tls: Identity.garden.server) { running in
      let output = try openssl(
        running, "-\(version)", "-alpn", "h2,http/1.1", asking: get("/hello?1", "Connection: close"))
      #expect(output.contains("hello 1"))
      #expect(output.contains("ALPN protocol: http/1.1"))
      #expect(output.contains(version == "tls1_2" ? "ECDHE-ECDSA-" : "TLS_"))
    }
  }

  @Test(arguments: [
    ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], ["-tls1", "-cipher", "DEFAULT@SECLEVEL=0"],
    ["-tls1_2", "-cipher", "AES128-GCM-SHA256"], ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA256"],
    ["-alpn", "h2"],
  ])
  func `old versions and weak ciphers are refused`(options: [String]) async throws {
    try await serving(garden(), tls: Identity.garden.server) { running in
      let output = try openssl(running, options, asking: get("/hello?1", "Connection: close"))
      #expect(!output.contains("hello 1"))
      #expect(try running.servesOthers(tls: Identity.garden.client))
    }
  }

  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func `a session is resumed by ticket on any loop`(version: String) async throws {
    try await serving(garden(), Variant(loops: 2), tls: Identity.garden.server) { running in
      let session = NSTemporaryDirectory() + "parley-session-\(UInt64.random(in: 0 ... .max))"
      defer { unlink(session) }
      let first = try openssl(running, version, "-sess_out", session, asking: get("/hello?1", "Connection: close"))
      #expect(first.contains("New, TLS"))
      // One loop has this connection, so the next two use both loops.
      let occupied = try running.connect(tls: Identity.garden.client)
      for _ in 0..<4 {
        let output = try openssl(running, version, "-sess_in", session, asking: get("/hello?2", "Connection: close"))
        #expect(output.contains("Reused, TLS"))
        #expect(output.contains("hello 2"))
      }
      occupied.close()
    }
  }

  @Test(arguments: Variant.allCases)
  func `a new certificate applies to new connections`(variant: Variant) async throws {
    try await serving(garden(), variant, tls: Identity.garden.server) { running in
      let old = try running.connect(tls: Identity.garden.client)
      try await running.server.use(Identity.meadow.server, forEndpoint: 0)
      try old.send(get("/hello?1"))
      #expect(try old.answer().text == "hello 1")
      for _ in 0..<4 { #expect(try running.servesOthers(tls: Identity.meadow.client)) }
      #expect(throws: (any Error).self) { try running.connect(tls: Identity.garden.client) }
    }
  }

  @Test func `an invalid certificate is refused and the old one kept`() async throws {
    try await serving(garden(), tls: Identity.garden.server) { running in
      let broken = TLSConfiguration(
        role: .server(
          .init(
            certificates: Identity.meadow.selfSigned.certificate, key: Identity.garden.selfSigned.key,
            ticketKeys: .init(repeating: 7, count: 80))))
      await #expect(throws: (any Error).self) { try await running.server.use(broken, forEndpoint: 0) }
      let isServed = try running.servesOthers(tls: Identity.garden.client)
      #expect(isServed)
    }
  }

  @Test func `a certificate other than the pinned one is refused`() async throws {
    try await serving(garden(), tls: Identity.garden.server) { running in
      #expect(throws: (any Error).self) { try running.connect(tls: Identity.meadow.client) }
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `plain HTTP on a TLS port is closed at once`(polling: EventLoop.Polling) async throws {
    let calls = Collected<String>()
    try await serving(garden(calls: calls), Variant(polling: polling), tls: Identity.garden.server) { running in
      let client = try running.connect()
      try client.send(get("/hello"))
      #expect(client.isOver())
      #expect(calls.count == 0)
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a slow handshake times out`(polling: EventLoop.Polling) async throws {
    var limits = Limits()
    limits.handshakeTime = 1
    let site = garden(limits: limits)
    let (tls, clock) = (Identity.garden.server, ManualClock())
    try await serving(site, Variant(polling: polling), tls: tls, clock: clock) { running in
      let silent = try running.connect()
      let dripping = try running.connect()
      let areServed = eventually { running.server.connectionCount == 2 }
      #expect(areServed)
      // An incomplete ClientHello.
      var hello: [UInt8] = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc]
      let tenths = await running.tenths {
        do { try dripping.send([hello.isEmpty ? 3 : hello.removeFirst()]) } catch {}
        return running.server.connectionCount == 0
      }
      #expect(tenths >= 10)
      #expect(silent.isOver())
      #expect(dripping.isOver())
    }
  }

  @Test(arguments: Variant.allCases)
  func `a record may be split, and large bodies pass in both directions`(variant: Variant) async throws {
    try await serving(garden(), variant, tls: Identity.garden.server) { running in
      let client = try running.connect(tls: Identity.garden.client)
      let record = try client.ciphertext(of: get("/hello?1"))
      try client.sendRaw(Array(record[..<20]))
      try client.sendRaw(Array(record[20...]))
      #expect(try client.answer().text == "hello 1")
      for byte in try client.ciphertext(of: get("/hello?2")) { try client.sendRaw([byte]) }
      #expect(try client.answer().text == "hello 2")

      let body = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) }
      try client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n")
      try client.send(body)
      #expect(try client.answer(to: .post).body == body)

      try client.send(get("/hello?3"))
      try client.sendCloseNotify()
      #expect(try client.answer().text == "hello 3")
      #expect(try client.readToEnd() == "")
    }
  }

  @Test func `a modified record closes the connection`() async throws {
    let calls = Collected<String>()
    try await serving(garden(calls: calls), tls: Identity.garden.server) { running in
      let client = try running.connect(tls: Identity.garden.client)
      var record = try client.ciphertext(of: get("/hello"))
      record[record.count - 1] ^= 1
      try client.sendRaw(record)
      #expect(throws: (any Error).self) { try client.answer() }
      #expect(calls.count == 0)
    }
  }

  @Test func `a response ends with close_notify`() async throws {
    try await serving(garden(), tls: Identity.garden.server) { running in
      // Python treats an end without close_notify as an error by default.
      let program = """
        import socket, ssl, sys
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as plain:
          with context.wrap_socket(plain, suppress_ragged_eofs=False) as tls:
            tls.sendall(b"GET /hello HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n")
            while part := tls.recv(65536): sys.stdout.write(part.decode())
        print("\\nended in order", tls.version())
        """
      let output = try run("python3", ["-c", program, "\(running.address.port ?? 0)"])
      #expect(output.contains("ended in order"))
    }
  }
}

/// The output of OpenSSL's client after a request.
private func openssl(_ running: Running, _ options: String..., asking request: String) throws -> String {
  try openssl(running, options, asking: request)
}

private func openssl(_ running: Running, _ options: [String], asking request: String) throws -> String {
  try run(
    "openssl", ["s_client", "-connect", "\(running.address)", "-servername", "localhost", "-ign_eof"] + options,
    input: request)
}

/// Runs a program until it exits. Returns its combined output.
func run(_ program: String, _ arguments: [String], input: String = "") throws -> String {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["timeout", "120", program] + arguments
  let output = Pipe()
  let source = Pipe()
  process.standardOutput = output
  process.standardError = output
  process.standardInput = source
  try process.run()
  source.fileHandleForWriting.write(Data(input.utf8))
  try source.fileHandleForWriting.close()
  let data = output.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return String(decoding: data, as: UTF8.self)
}
