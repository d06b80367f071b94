import ParleyJSON
import ParleyNetworking
import ParleyWire
import Synchronization

/// Asks the daemon that has a data folder to do something.
struct ControlClient {
  let data: String

  /// One short answer: a JSON object.
  func answer(
    _ method: ParleyWire.Method, _ path: String, _ members: (inout JSONWriter) -> Void = { _ in }
  ) async throws -> JSONObject {
    let socket = try ControlSocket(in: data)
    var json = JSONWriter()
    json.object(members)
    var call = Call(address: socket.address, host: "localhost", name: "the daemon", method: method, path: path)
    if !method.isSafe { call.body = json.bytes }
    call.patience = 30
    defer { withExtendedLifetime(socket) {} }
    let (status, body) = try await call.answer()
    guard status.code < 300 else { throw Refused(status, body) }
    return try JSONValue(parsing: body).object()
  }

  /// Shows the progress, and says how it went.
  func ask(_ path: String, _ body: [UInt8], _ bar: ProgressBar) async throws(Settings.Mistake) -> Outcome {
    let socket = try ControlSocket(in: data)
    let call = Call(
      address: socket.address, host: "localhost", name: "the daemon", method: .post, path: path, body: body,
      isLong: true)
    let answer = ControlAnswer(bar)
    defer { withExtendedLifetime(socket) {} }
    do {
      let status = try await call.stream { _, piece in answer.take(piece) }
      guard status == .ok else {
        return Outcome(.impossible, "The daemon of another version, it seems, answers \(status.code) to \(path).")
      }
    } catch {
      throw Settings.Mistake(
        sentence: "\(data) is in use by another parley, which can't be asked: \(error). Try again in a moment.")
    }
    return answer.outcome ?? Outcome(.impossible, "The daemon has not said how it went.")
  }
}

/// What the daemon answers, line by line.
private final class ControlAnswer: Sendable {
  private struct State {
    var rest: [UInt8] = []
    var outcome: Outcome?
  }

  private let bar: ProgressBar
  private let state = Mutex(State())

  init(_ bar: ProgressBar) { self.bar = bar }

  var outcome: Outcome? { state.withLock { $0.outcome } }

  func take(_ piece: [UInt8]) {
    state.withLock { state in
      state.rest += piece
      while let end = state.rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = try? ControlLine(reading: Array(state.rest[..<end]))
        state.rest.removeFirst(end + 1)
        switch line {
        case .progress(let progress): bar.show(progress)
        case .outcome(let outcome): state.outcome = outcome
        case nil: break
        }
      }
      if state.rest.count > ControlLine.longest { state.rest = [] }
    }
  }
}
