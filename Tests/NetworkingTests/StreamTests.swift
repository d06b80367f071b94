import Foundation
import Testing

@testable import ParleyNetworking

struct StreamTests {
  @Test(arguments: EventLoop.Polling.allCases)
  func `a peer that closed its write side still receives the response`(polling: EventLoop.Polling) async throws {
    try await EventLoop.running(polling) { loop in
      let large = [UInt8](repeating: 7, count: 3_000_000)
      let address = try await loop.listen { event, stream, _ in
        guard event == .ended else { return }
        stream.write(large)
        stream.finish()
      }
      let events = Collected<Recorder.Event>()
      try await loop.connect(to: address, events: events) { event, stream, _ in
        if event == .opened { stream.shutdownForTest() }
        if event == .ended { stream.finish() }
      }
      #expect(await eventually { events.all.last == .closed(isFailed: false) })
      let received = events.all.reduce(0) { sum, event in
        if case .received(let bytes) = event { sum + bytes.count } else { sum }
      }
      #expect(received == large.count)
    }
  }

  @Test(
    arguments: EventLoop.Polling.allCases,
    [Recorder.Event.opened, .received([1]), .ended, .drained, .resumed, .expired])
  func `a stream may be aborted from every callback and makes no further calls`(
    polling: EventLoop.Polling, when: Recorder.Event
  ) async throws {
    try await EventLoop.running(polling) { loop in
      let server = Collected<Recorder.Event>()
      let address = try await loop.listen(
        { event, stream, _ in
          if case .received = event { stream.write([1]) }
          if event == .received([2]) { stream.finish() }
          if event == .ended { stream.finish() }
        }, events: server)
      let events = Collected<Recorder.Event>()
      try await loop.connect(to: address, events: events) { event, stream, _ in
        if event == .opened {
          switch when {
          case .received: stream.write([1])
          case .ended: stream.write([2])
          case .drained: stream.notifyWhenDrained(to: 0)
          case .resumed: stream.requestTurn()
          case .expired: stream.setDeadline(after: 0)
          case .opened, .closed: break
          }
        }
        guard event == when else { return }
        stream.abort()
        stream.write([1])
        stream.finish()
        stream.requestTurn()
        stream.abort()
      }
      #expect(await eventually { events.all.last == .closed(isFailed: false) })
      #expect(await eventually { if case .closed = server.all.last { true } else { false } })
      #expect(events.all.filter { if case .closed = $0 { true } else { false } }.count == 1)
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a refused connection is an error`(polling: EventLoop.Polling) async throws {
    try await EventLoop.running(polling) { loop in
      let socket = try ListeningSocket(binding: .ipv4(0x7f00_0001, port: 0))
      let address = socket.address
      socket.close()
      let events = Collected<Recorder.Event>()
      try await loop.connect(to: address, events: events)
      #expect(await eventually { events.all == [.closed(isFailed: true)] })
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a server that closes at once ends or resets the stream`(polling: EventLoop.Polling) async throws {
    try await EventLoop.running(polling) { loop in
      let address = try await loop.listen { event, stream, _ in if event == .opened { stream.abort() } }
      for _ in 0..<50 {
        let events = Collected<Recorder.Event>()
        try await loop.connect(to: address, events: events) { event, stream, _ in
          if event == .opened { stream.write([1, 2, 3]) }
          if event == .ended { stream.finish() }
        }
        #expect(await eventually { if case .closed = events.all.last { true } else { false } })
      }
    }
  }

  @Test(arguments: EventLoop.Polling.allCases)
  func `a paused stream keeps its input`(polling: EventLoop.Polling) async throws {
    try await EventLoop.running(polling) { loop in
      let address = try await loop.listen { event, stream, _ in
        if event == .opened {
          stream.write([UInt8](repeating: 1, count: 1_000_000))
          stream.finish()
        }
      }
      let events = Collected<Recorder.Event>()
      try await loop.connect(to: address, events: events) { event, stream, _ in
        switch event {
        case .received:
          stream.pauseReading()
          stream.setDeadline(after: 0)
        case .expired: stream.resumeReading()
        case .ended: stream.finish()
        case .opened, .drained, .resumed, .closed: break
        }
      }
      #expect(await eventually { events.all.last == .closed(isFailed: false) })
      let received = events.all.reduce(0) { sum, event in
        if case .received(let bytes) = event { sum + bytes.count } else { sum }
      }
      #expect(received == 1_000_000)
    }
  }
}

extension ParleyNetworking.Stream {
  /// Closes only the write side, which the API does not support.
  fileprivate func shutdownForTest() { socket.finish() }
}
