// `parley health`: one request to a server, for container health checks and for people.

import Networking
import Synchronization
import Wire

enum HealthCommand {
  /// Whom to ask, and how to know it.
  private struct Target {
    var address: SocketAddress
    var host: String
    var tls: TLSConfiguration?
    var name: String
  }

  static func run(_ arguments: [String]) async -> Int32 {
    do {
      let target = try target(arguments)
      let (status, body) = try await ask(target)
      Terminal.print(status == .ok ? body + "\n" : "\(target.name) answers \(status.code) \(status.reason)\n")
      return status == .ok ? 0 : 1
    } catch let mistake as Settings.Mistake {
      Terminal.complain(mistake.sentence)
      return 2
    } catch {
      Terminal.complain("\(error)")
      return 1
    }
  }

  private static func ask(_ target: Target) async throws -> (Status, String) {
    let loop = try EventLoop(label: "parley.health")
    await loop.start()
    defer { Task { await loop.stop() } }
    return try await withCheckedThrowingContinuation { continuation in
      let answer = Answer(continuation)
      loop.run { loop in
        let exchange = HealthExchange(host: target.host, name: target.name, answer: answer)
        do {
          try exchange.begin(target.address, target.tls, on: loop)
        } catch {
          answer.give(.failure(error))
        }
      }
    }
  }

  /// The address that was given; else where `parley serve` with the same settings listens.
  private static func target(_ arguments: [String]) throws -> Target {
    guard arguments.first == "--url" else {
      return try target(Settings(arguments: arguments, environment: Terminal.environment))
    }
    guard arguments.count == 2 else {
      throw Settings.Mistake(sentence: "--url takes one address, and nothing beside it.")
    }
    let url = arguments[1]
    if url.hasPrefix("unix:"), let address = SocketAddress(url) {
      return Target(address: address, host: "localhost", name: url)
    }
    guard let web = WebAddress(url), ["http", "https"].contains(web.scheme.rawValue),
      let address = try SocketAddress.resolve(host: web.host, port: UInt16(clamping: web.port)).first
    else {
      throw Settings.Mistake(sentence: "--url takes an http:// or https:// address or unix:PATH, not \"\(url)\".")
    }
    return Target(
      address: address, host: web.authority, tls: web.scheme.isSecure ? TLSConfiguration(role: .client(.system)) : nil,
      name: url)
  }

  private static func target(_ settings: Settings) throws -> Target {
    let text = settings.all(.listen).first ?? Setting.listen.fallback ?? ""
    guard var address = SocketAddress(text) else {
      throw Settings.Mistake(sentence: "--listen is no address: \"\(text)\". --url says whom to ask.")
    }
    // Who listens everywhere is asked here.
    if address.host == "0.0.0.0" || address.host == "::", let port = address.port {
      address = .ipv4(0x7f00_0001, port: port)
    }
    let certificates = try Certificates(settings, data: settings.text(.data) ?? "./data")
    guard address.port != nil, let fingerprint = try certificates?.load().digest else {
      return Target(address: address, host: "localhost", name: "\(address)")
    }
    return Target(
      address: address, host: "localhost", tls: TLSConfiguration(role: .client(.fingerprint(fingerprint))),
      name: "https://\(address)")
  }
}

/// The server is not well, in words.
private struct NoAnswer: Error, CustomStringConvertible {
  let description: String
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
  private let name: String
  private let answer: Answer
  private var isLate = false
  private var stream: Networking.Stream?
  private var input: [UInt8] = []

  init(host: String, name: String, answer: Answer) {
    self.host = host
    self.name = name
    self.answer = answer
  }

  func begin(_ address: SocketAddress, _ tls: TLSConfiguration?, on loop: isolated EventLoop) throws {
    stream = try Networking.Stream.connect(
      to: address, tls: tls.map { configuration throws(StreamError) in try TLSContext(configuration) },
      serverName: WebAddress(name)?.host ?? host, handler: self, on: loop)
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

  func expired(on loop: isolated EventLoop) {
    isLate = true
    stream?.abort()
  }

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    let reason = isLate ? "does not answer within 5 s" : error?.description ?? "closed the connection without an answer"
    answer.give(.failure(NoAnswer(description: "\(name): \(reason)")))
  }
}
