import Foundation
import ParleyCrypto
import ParleyKit
import ParleyModel
import ParleyNetworking
import ParleyURLSession
import Serving
import TestSupport
import Testing
import Web

/// ParleyKit over Foundation's networking. Its WebSocket needs a libcurl that has WebSockets; Debian 12's has none.
@Suite struct URLSessionTests {
  @Test func `times are dates, and errors have their text for the user`() throws {
    let time = Timestamp(1_795_187_801_123)
    #expect(Timestamp(time.date) == time && time.date.timeIntervalSince1970 == 1_795_187_801.123)
    #expect(Date(milliseconds: 1_795_187_801_123) == time.date)
    let faults: [any ParleyFault] = [
      ClientFault.timedOut, CacheFault.closed, SyncRefusal.unknownMessage, OutboxRefusal.unknownOperation,
      AppAuthorizationFault.redirectMismatch,
    ]
    for fault in faults { #expect((fault as any Error).localizedDescription == fault.userMessage) }
  }

  @Test func `each time of an entity is a date, too`() throws {
    // Events and what only the operator sees.
    let others: Set = [
      "AuditEntry", "DeliveredEventJSON", "Event", "MessageDraft", "Statistics", "StoredBackup", "Upload",
    ]
    let folder = Checkout.root.appending(path: "Sources/Shared/Model")
    let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    let times = try paths.filter { path in
      path.hasSuffix(".swift") && !others.contains { path.hasSuffix("/\($0).swift") }
    }.flatMap { path in
      try Checkout.text("Sources/Shared/Model/\(path)").matches(of: /public (?:var|let) (\w*[aA]t): Int64/).map {
        String($0.1)
      }
    }
    let dates = try Checkout.text("Sources/Kit/ParleyKit/Foundation/Dates.swift").matches(of: /`(\w*[aA]t)` as a date/)
    #expect(times.count > 50 && times.sorted() == dates.map { String($0.1) }.sorted())
    #expect(Message.Edit(at: 1_500, by: ID(1)).date == Date(timeIntervalSince1970: 1.5))
  }

  @Test func `a session signs in, posts and reads, and a refusal has its code`() async throws {
    try await Daemon.run { daemon in
      let client = try daemon.client(URLSessionTransport())
      let session = OwnSession(client, store: KeyValueStore(read: { _ in nil }, write: { _, _ in }), now: { 0 })
      do throws(ClientFault) {
        try await session.signIn("ada", password: "wrong")
        Issue.record("signed in")
      } catch { #expect(error.problem?.code == "wrong_credentials") }
      try await session.signIn("ada", password: Daemon.password)
      let room = try await client.send(.createForum(title: "Garden", visibility: .public)).forum.room
      let posted = try await client.send(.postMessage(in: room, "Grüße 🌱", clientID: "one"))
      #expect(try await client.send(.getMessage(posted.message.id)).message.content?.text == "Grüße 🌱")
      #expect(try await client.send(posted.setAction(.like)).mine == ["like"])
      #expect(try await client.send(posted.delete()).message.tombstone != nil)
    }
  }

  @Test func `one call signs in, and one resumes`() async throws {
    try await Daemon.run { daemon in
      let folder = FileManager.default.temporaryDirectory.appending(path: "parley-kit-\(UUID())")
      defer { try? FileManager.default.removeItem(at: folder) }
      let address = try #require(URL(string: daemon.url + "/").flatMap { ServerAddress($0) })
      let parley = try await Parley.signIn(
        address, "ada", password: Daemon.password, on: .standard(in: folder, group: nil))
      let room = try await parley.client.send(.createForum(title: "Garden", visibility: .public)).forum.room
      let file = folder.appending(path: "notes.txt")
      try Data("tulips".utf8).write(to: file)
      var draft = Draft("Look!")
      draft.files = [PendingFile(id: Outbox.Clock.randomName(), path: file.path, name: "notes.txt", kind: .other)]
      let sent = try #require(try await parley.outbox.sendAndWait(draft, in: room).last)
      #expect(sent.content?.attachments.count == 1)
      await parley.stop()
      #expect(ServerAddress(URL(filePath: "/tmp")) == nil)
      #expect(try CredentialFile(folder.appending(path: "session").path).load()?.server == address)
    }
  }

  @Test(arguments: [1_000, 9 << 20])
  func `an uploaded file is downloaded with the same bytes`(size: Int) async throws {
    try await Daemon.run { daemon in
      let client = try await daemon.device(URLSessionTransport()).client
      let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 7) }
      let sent = try await client.upload(FileSource(name: "bytes.bin", bytes: bytes))
      #expect(sent.value.size == size)
      var received: [UInt8] = []
      try await client.download(sent.value.id) { chunk in received += chunk }
      #expect(try Digest.sha256(of: received) == Digest.sha256(of: bytes))
    }
  }

  @Test func `a device without WebSockets sends and receives`() async throws {
    try await Daemon.run { daemon in
      let ada = try await daemon.device(URLSessionTransport())
      let room = try await ada.client.send(.createForum(title: "Garden", visibility: .public)).forum.room
      await ada.start()
      _ = try await ada.outbox.sendAndWait(Draft("From ada"), in: room)
      let other = try await daemon.device()
      _ = try await other.client.send(.postMessage(in: room, "From another device"))
      let texts = try await ada.messages(in: room).fresh().map(\.text)
      #expect(texts == ["From another device", "From ada"])
      await ada.stop()
    }
  }

  @Test func `an unreachable server is one, also for a WebSocket`() async throws {
    let request = TransportRequest(origin: "http://127.0.0.1:1", target: "/")
    for isSocket in [false, true] {
      do throws(TransportFailure) {
        let transport = URLSessionTransport()
        if isSocket {
          _ = try await transport.connect(request, subprotocols: ["parley"])
        } else {
          _ = try await transport.send(request)
        }
        Issue.record("connected")
      } catch {
        guard case .unreachable = error else { throw error }
      }
    }
  }

  @Test func `a redirect is a response, and is not followed`() async throws {
    try await Self.serve { origin in
      let response = try await URLSessionTransport().send(TransportRequest(origin: origin, target: "/moved"))
      #expect(response.status == 302 && response["location"] == "/endless")
      #expect(try await response.body(limit: 1_000).isEmpty)
    }
  }

  @Test func `the release of an unread response closes its connection`() async throws {
    let (closed, close) = AsyncStream.makeStream(of: Void.self)
    try await Self.serve({ close.yield() }) { origin in
      do {
        let response = try await URLSessionTransport().send(TransportRequest(origin: origin, target: "/endless"))
        #expect(response.status == 200)
        for _ in 0..<40 { #expect(try await response.next()?.isEmpty == false) }
      }
      for await _ in closed { break }
    }
  }

  @Test func `a cancelled task ends its request`() async throws {
    try await Self.serve { origin in
      let transport = URLSessionTransport()
      let (started, start) = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        do throws(TransportFailure) {
          let response = try await transport.send(TransportRequest(origin: origin, target: "/endless"))
          while try await response.next() != nil { start.yield() }
          return TransportFailure?.none
        } catch { return error }
      }
      for await _ in started { break }
      task.cancel()
      #expect(await task.value == .cancelled)
    }
  }

  @Test func `a body that ends early is not sent`() async throws {
    try await Self.serve { origin in
      let body = TransportBody.stream(length: 10) { [] }
      do throws(TransportFailure) {
        _ = try await URLSessionTransport().send(
          TransportRequest(method: "POST", origin: origin, target: "/moved", body: body))
        Issue.record("sent")
      } catch { #expect(error == .sourceFailed("the body is shorter than its length")) }
    }
  }

  /// A server with a redirect and an endless response.
  private static func serve(
    _ disconnected: @escaping @Sendable () -> Void = {}, _ body: (_ origin: String) async throws -> Void
  ) async throws {
    Signals.ignoreBrokenPipes()
    let site = Application(
      router: Router { routes in
        routes.on(.get, "/moved") { _, _ in .redirect(to: "/endless") }
        routes.on(.get, "/endless") { _, _ in
          let chunk = [UInt8](repeating: 1, count: 65_536)
          return Response(
            .ok,
            body: .stream(length: nil) { writer in
              do { while true { try await writer.write(chunk) } } catch {
                disconnected()
                throw error
              }
            })
        }
      }, limits: Limits())
    let socket = try ListeningSocket(binding: .ipv4(0x7f00_0001, port: 0))
    let server = try Server(.init(endpoints: [.init(socket)], loops: 1), application: site, log: { _ in })
    try await server.start()
    do { try await body("http://127.0.0.1:\(server.addresses[0].port ?? 0)") } catch {
      await server.stop(within: 0)
      throw error
    }
    await server.stop(within: 0)
  }
}
