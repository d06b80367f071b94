import Dispatch
import ParleyNetworking
import Synchronization
import Testing

/// The echo server.
final class Echo: StreamHandler {
  var stream: ParleyNetworking.Stream?
  func opened(on loop: isolated EventLoop) {}
  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    var copy: [UInt8] = []
    for index in bytes.indices { copy.append(bytes[index]) }
    stream?.write(copy)
  }
  func ended(on loop: isolated EventLoop) { stream?.finish() }
  func drained(on loop: isolated EventLoop) {}
  func expired(on loop: isolated EventLoop) {}
  func resumed(on loop: isolated EventLoop) {}
  func closed(_ error: StreamError?, on loop: isolated EventLoop) { stream = nil }
}

final class Client: StreamHandler {
  var stream: ParleyNetworking.Stream?
  let message: [UInt8]
  var answer: [UInt8] = []
  let done: @Sendable ([UInt8], StreamError?) -> Void

  init(message: [UInt8], done: @escaping @Sendable ([UInt8], StreamError?) -> Void) {
    self.message = message
    self.done = done
  }
  func opened(on loop: isolated EventLoop) { stream?.write(message) }
  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    for index in bytes.indices { answer.append(bytes[index]) }
    if answer.count >= message.count { stream?.finish() }
  }
  func ended(on loop: isolated EventLoop) { stream?.finish() }
  func drained(on loop: isolated EventLoop) {}
  func expired(on loop: isolated EventLoop) {}
  func resumed(on loop: isolated EventLoop) {}
  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    stream = nil
    done(answer, error)
  }
}

func echo(_ message: [UInt8], polling: EventLoop.Polling, tls: Bool) async throws -> ([UInt8], String?) {
  let loop = try EventLoop(polling: polling)
  await loop.start()
  let identity = tls ? try SelfSigned(names: ["localhost", "127.0.0.1"]) : nil
  let socket = try ListeningSocket(binding: #require(SocketAddress("127.0.0.1:0")))
  let address = socket.address
  let configuration = identity.map {
    TLSConfiguration(
      role: .server(.init(certificates: $0.certificate, key: $0.key, ticketKeys: .init(repeating: 7, count: 80))))
  }
  let trust = try identity.map {
    TLSConfiguration(
      role: .client(.fingerprint(try #require(Certificate.list(fromPEM: $0.certificate).first?.fingerprint))))
  }
  final class Contexts {
    let server: TLSContext?
    init(server: TLSContext?) { self.server = server }
  }
  let result: ([UInt8], String?) = try await withCheckedThrowingContinuation { continuation in
    loop.run { loop in
      do {
        let context = try configuration.map { try TLSContext($0) }
        let contexts = loop.resident(Contexts.self) { Contexts(server: context) }
        _ = contexts
        _ = try loop.resident(Holder.self) { Holder() }.keep(
          Listener.start(
            socket, loops: [loop], on: loop,
            serve: { descriptor, peer, loop in
              let echo = Echo()
              let context = loop.resident(Contexts.self) { Contexts(server: nil) }.server
              echo.stream = try? ParleyNetworking.Stream.accept(
                descriptor, peer: peer, tls: context, handler: echo, on: loop)
            }, log: { Issue.record($0) }))
        let client = Client(message: message) { answer, error in
          continuation.resume(returning: (answer, error?.description))
        }
        client.stream = try ParleyNetworking.Stream.connect(
          to: address, tls: trust.map { try TLSContext($0) }, serverName: "localhost", handler: client, on: loop)
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }
  await loop.stop()
  return result
}

final class Holder {
  var listener: Listener?
  func keep(_ listener: Listener) { self.listener = listener }
}

@Test(arguments: EventLoop.Polling.allCases, [false, true])
func `messages of any size are echoed`(polling: EventLoop.Polling, tls: Bool) async throws {
  for size in [1, 1_000, 100_000, 5_000_000] {
    let message = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let (answer, error) = try await echo(message, polling: polling, tls: tls)
    #expect(error == nil)
    #expect(answer == message)
  }
}
