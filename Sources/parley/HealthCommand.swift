// `parley health`: one request to a server, for container health checks and for people.

import Networking
import Synchronization
import Wire

enum HealthCommand {
  static func run(_ arguments: [String]) async -> Int32 {
    var url = "http://127.0.0.1:8080"
    if arguments.count == 2, arguments[0] == "--url" {
      url = arguments[1]
    } else if !arguments.isEmpty {
      Terminal.complain("parley health takes --url ADDRESS and nothing else.")
      return 2
    }
    do {
      let (status, body) = try await ask(url)
      Terminal.print(body + "\n")
      return status == .ok ? 0 : 1
    } catch let mistake as Settings.Mistake {
      Terminal.complain(mistake.sentence)
      return 2
    } catch {
      Terminal.complain("\(url) does not answer: \(error)")
      return 1
    }
  }

  private static func ask(_ url: String) async throws -> (Status, String) {
    let (address, host) = try target(url)
    let loop = try EventLoop(label: "parley.health")
    await loop.start()
    defer { Task { await loop.stop() } }
    return try await withCheckedThrowingContinuation { continuation in
      let answer = Answer(continuation)
      loop.run { loop in
        let exchange = HealthExchange(host: host, answer: answer)
        do {
          try exchange.begin(address, on: loop)
        } catch {
          answer.give(.failure(error))
        }
      }
    }
  }

  private static func target(_ url: String) throws -> (SocketAddress, String) {
    if url.hasPrefix("unix:"), let address = SocketAddress(url) { return (address, "localhost") }
    guard let web = WebAddress(url), web.scheme == .http,
      let address = try SocketAddress.resolve(host: web.host, port: UInt16(clamping: web.port)).first
    else {
      throw Settings.Mistake(sentence: "--url takes an http:// address or unix:PATH, not \"\(url)\".")
    }
    return (address, web.authority)
  }
}

/// Given once, whoever comes first.
private final class Answer: Sendable {
  private let continuation: Mutex<CheckedContinuation<(Status, String), any Error>?>

  init(_ continuation: CheckedContinuation<(Status, String), any Error>) {
    self.continuation = Mutex(continuation)
  }

  func give(_ result: sending Result<(Status, String), any Error>) {
    let waiting = continuation.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
    waiting?.resume(with: result)
  }
}

private final class HealthExchange: StreamHandler {
  private let host: String
  private let answer: Answer
  private var stream: Networking.Stream?
  private var input: [UInt8] = []

  init(host: String, answer: Answer) {
    self.host = host
    self.answer = answer
  }

  func begin(_ address: SocketAddress, on loop: isolated EventLoop) throws {
    stream = try Networking.Stream.connect(to: address, handler: self, on: loop)
    stream?.setDeadline(after: 5)
  }

  func opened(on loop: isolated EventLoop) {
    stream?.write(Array("GET /healthz HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8))
  }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    input.append(copying: bytes)
    if input.count > 65_536 { stream?.abort() }
  }

  func ended(on loop: isolated EventLoop) {
    var parser = ResponseParser()
    if let (head, length) = try? parser.parse(input.span, to: .get) {
      answer.give(.success((head.status, String(decoding: input[length...], as: UTF8.self))))
    }
    stream?.finish()
  }

  func drained(on loop: isolated EventLoop) {}
  func resumed(on loop: isolated EventLoop) {}
  func expired(on loop: isolated EventLoop) { stream?.abort() }

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    answer.give(.failure(error ?? .system(SystemError("no answer", code: 110))))
  }
}
