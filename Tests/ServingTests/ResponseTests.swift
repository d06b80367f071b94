import Foundation
import ParleyNetworking
import ParleyWire
import Testing
import Web

/// Responses of handlers and their framing (RFC 9112 §6).
struct ResponseTests {
  private static func streaming(_ events: Collected<String> = Collected()) -> Application {
    garden { routes in
      routes.on(.get, "/chunked") { _, _ in
        Response(
          .ok,
          body: .stream(length: nil) { writer in
            for number in 0..<1_000 { try await writer.write(Array("line \(number)\n".utf8)) }
          })
      }
      routes.on(.get, "/known") { _, _ in
        Response(
          .ok,
          body: .stream(length: 9_000_000) { writer in
            for _ in 0..<90 { try await writer.write([UInt8](repeating: 120, count: 100_000)) }
          })
      }
      routes.on(.get, "/endless") { _, _ in
        Response(
          .ok,
          body: .stream(length: nil) { writer in
            defer { events.add("over, cancelled: \(Task.isCancelled)") }
            while true {
              try await writer.write([UInt8](repeating: 120, count: 10_000))
              await Task.yield()
            }
          })
      }
      routes.on(.get, "/quiet") { _, _ in
        Response(
          .ok,
          body: .stream(length: nil) { writer in
            try await writer.write(Array("hello".utf8))
            do {
              try await Task.sleep(for: .seconds(600))
            } catch {
              events.add("cancelled")
            }
          })
      }
      routes.on(.get, "/broken") { request, _ in
        struct Broken: Error {}
        let length = request.head.target.query.flatMap { Int($0) }
        return Response(
          .ok,
          body: .stream(length: length) { writer in
            try await writer.write(Array("the first part".utf8))
            throw Broken()
          })
      }
      routes.on(.get, "/short") { _, _ in
        Response(.ok, body: .stream(length: 100) { writer in try await writer.write([1, 2, 3]) })
      }
      routes.on(.get, "/long") { _, _ in
        Response(.ok, body: .stream(length: 2) { writer in try await writer.write([1, 2, 3]) })
      }
      routes.on(.get, "/nothing") { _, _ in
        Response(.noContent, body: .stream(length: nil) { writer in try await writer.write([1, 2, 3]) })
      }
    }
  }

  @Test(arguments: Variant.allCases)
  func `a streamed response arrives complete, and the connection is reused`(variant: Variant) async throws {
    try await serving(Self.streaming(), variant) { running in
      let client = try running.connect()
      try client.send(get("/chunked") + get("/known") + get("/hello?3"))
      let chunked = try client.answer()
      #expect(chunked.head.framing == .chunked)
      #expect(chunked.text == (0..<1_000).map { "line \($0)\n" }.joined())
      let known = try client.answer()
      #expect(known.head.framing == .length(9_000_000))
      #expect(known.body.count == 9_000_000)
      #expect(try client.answer().text == "hello 3")
    }
  }

  @Test func `HTTP 1.0 reads a stream until the connection closes`() async throws {
    try await serving(Self.streaming()) { running in
      let client = try running.connect()
      try client.send("GET /chunked HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      let answer = try client.answer()
      #expect(answer.head.framing == .untilClose)
      #expect(answer.text.hasSuffix("line 999\n"))
    }
  }

  @Test func `HEAD starts no stream, and a response without a body has no framing`() async throws {
    try await serving(Self.streaming()) { running in
      let client = try running.connect()
      try client.send("HEAD /endless HTTP/1.1\r\nHost: a\r\n\r\n" + get("/nothing") + get("/hello?3"))
      #expect(try client.answer(to: .head).status == 200)
      let nothing = try client.answer()
      #expect(nothing.status == 204)
      #expect(!nothing.head.fields.has("transfer-encoding"))
      #expect(try client.answer().text == "hello 3")
    }
  }

  @Test(arguments: EventLoop.Polling.allCases, [true, false])
  func `the writer of an endless response gets an error when the client disconnects`(
    polling: EventLoop.Polling, byReset: Bool
  ) async throws {
    let events = Collected<String>()
    try await serving(Self.streaming(events), Variant(polling: polling)) { running in
      let client = try running.connect()
      try client.send(get("/endless"))
      _ = try client.read(1_000_000)
      if byReset { client.reset() } else { client.close() }
      #expect(eventually { events.count == 1 })
      let quiet = try running.connect()
      try quiet.send(get("/quiet"))
      _ = try quiet.read(100)
      quiet.reset()
      #expect(eventually { events.all.last == "cancelled" })
    }
  }

  @Test(arguments: ["/broken", "/broken?1000", "/short", "/long"])
  func `a failed response does not look complete`(path: String) async throws {
    try await serving(Self.streaming()) { running in
      let client = try running.connect()
      try client.send(get(path))
      #expect(throws: (any Error).self) { try client.answer() }
      #expect(client.isOver())
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a failed response does not look complete to HTTP 1.0`(polling: EventLoop.Polling) async throws {
    try await serving(Self.streaming(), Variant(polling: polling)) { running in
      let client = try running.connect()
      try client.send("GET /broken HTTP/1.0\r\n\r\n")
      #expect(throws: RawClient.Failure.system(ECONNRESET)) { try client.readToEnd() }
    }
  }

  // MARK: Files

  @Test(arguments: Variant.allCases, [false, true])
  func `ranges of files arrive unchanged`(variant: Variant, isEncrypted: Bool) async throws {
    let content = (0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
    let file = try TemporaryFile(content)
    let site = garden { routes in
      routes.on(.get, "/file") { _, _ in
        guard let open = OpenFile(file.path) else { return .text("none", .notFound) }
        return Response(
          .ok,
          body: .segments([
            .bytes(Array("<".utf8)), .file(open, 5..<100), .file(open, 0..<0), .bytes([]), .file(open, 0..<open.size),
            .bytes(Array(">".utf8)),
          ]))
      }
    }
    try await serving(site, variant, tls: isEncrypted ? Identity.garden.server : nil) { running in
      let client = try running.connect(tls: isEncrypted ? Identity.garden.client : nil)
      try client.send(get("/file") + get("/hello?2") + get("/file"))
      let expected = [60] + content[5..<100] + content + [62]
      #expect(try client.answer().body == expected)
      #expect(try client.answer().text == "hello 2")
      #expect(try client.answer().body == expected)
    }
  }

  @Test(arguments: [false, true])
  func `a truncated file does not look complete`(isEncrypted: Bool) async throws {
    let file = try TemporaryFile([UInt8](repeating: 1, count: 1_000))
    let site = garden { routes in
      routes.on(.get, "/file") { _, _ in
        guard let open = OpenFile(file.path) else { return .text("none", .notFound) }
        return Response(.ok, body: .segments([.file(open, 0..<5_000)]))
      }
    }
    try await serving(site, tls: isEncrypted ? Identity.garden.server : nil) { running in
      let client = try running.connect(tls: isEncrypted ? Identity.garden.client : nil)
      try client.send(get("/file"))
      #expect(throws: (any Error).self) { try client.answer() }
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a huge file for a fast reader does not delay other clients`(polling: EventLoop.Polling) async throws {
    let file = try TemporaryFile([UInt8](repeating: 1, count: 4 << 20))
    let site = garden { routes in
      routes.on(.get, "/file") { _, _ in
        guard let open = OpenFile(file.path) else { return .text("none", .notFound) }
        return Response(.ok, body: .segments(Array(repeating: .file(open, 0..<open.size), count: 128)))
      }
    }
    try await serving(site, Variant(polling: polling)) { running in
      let reader = try running.connect()
      try reader.send(get("/file"))
      var count = 0
      while count < 64 << 20 {
        count += try reader.read(1 << 20).count
        if count % (8 << 20) == 0 { #expect(try running.servesOthers()) }
      }
      reader.reset()
    }
  }
}

/// A file that is deleted after the test.
final class TemporaryFile: Sendable {
  let path: String

  init(_ content: [UInt8]) throws {
    path = NSTemporaryDirectory() + "parley-\(UInt64.random(in: .min ... .max))"
    try Data(content).write(to: URL(fileURLWithPath: path))
  }

  deinit { unlink(path) }
}
