import ParleyJSON
import ParleyKit
import ParleyNetworking
import ParleyWire
import Synchronization

/// A client of the daemon that has locked a data folder, or of a server with the rights of a signed-in user.
struct ControlClient {
  let data: String
  private let session: CLISession?
  private let last = LastResponse()

  init(data: String) {
    self.data = data
    session = nil
  }

  init(session: CLISession) {
    data = ""
    self.session = session
  }

  /// The JSON of the last response; an empty object for one without content.
  var lastResponse: JSONRaw { last.json.withLock { $0 } }

  /// Sends a request and returns the JSON object of its response.
  func response(
    _ method: ParleyWire.Method, _ path: String, timeout: Int = 30, _ members: (inout JSONWriter) -> Void = { _ in }
  ) async throws -> JSONObject {
    let value = try await value(method, path, timeout: timeout, members)
    last.json.withLock { $0 = value.raw }
    return try value.object()
  }

  private func value(
    _ method: ParleyWire.Method, _ path: String, timeout: Int, _ members: (inout JSONWriter) -> Void
  ) async throws -> JSONValue {
    if let session { return try await session.response(method, path, members) }
    let socket = try ControlSocket(in: data)
    var json = JSONWriter()
    json.object(members)
    var request = HTTPRequest(
      address: socket.address, host: "localhost", name: "the daemon", method: method, path: path)
    if !method.isSafe { request.body = json.bytes }
    request.timeout = timeout
    defer { withExtendedLifetime(socket) {} }
    let (status, body) = try await request.response()
    guard status.code < 300 else { throw RefusedRequest(status, body) }
    return try JSONValue(parsing: status == .noContent ? Array("{}".utf8) : body)
  }

  /// Runs a long operation in the daemon, shows its progress and returns its outcome.
  func run(_ path: String, _ body: [UInt8], _ bar: ProgressBar) async throws(Settings.UsageError) -> Outcome {
    let socket = try ControlSocket(in: data)
    let request = HTTPRequest(
      address: socket.address, host: "localhost", name: "the daemon", method: .post, path: path, body: body,
      isStreaming: true)
    let reader = ControlLineReader(bar)
    defer { withExtendedLifetime(socket) {} }
    do {
      let status = try await request.stream { _, bytes in reader.receive(bytes) }
      guard status == .ok else {
        return Outcome(.error, "The daemon answered \(status.code) to \(path). It may be another version.")
      }
    } catch {
      throw Settings.UsageError(
        message: "\(data) is in use by another parley process that does not respond: \(error). Try again later.")
    }
    return reader.outcome ?? Outcome(.error, "The daemon sent no outcome.")
  }
}

/// The response that `--json` prints.
private final class LastResponse: Sendable {
  let json = Mutex(JSONRaw(trusted: Array("{}".utf8)))
}

/// Decodes the lines of a streamed response.
private final class ControlLineReader: Sendable {
  private struct State {
    var buffer: [UInt8] = []
    var outcome: Outcome?
  }

  private let bar: ProgressBar
  private let state = Mutex(State())

  init(_ bar: ProgressBar) { self.bar = bar }

  var outcome: Outcome? { state.withLock { $0.outcome } }

  func receive(_ bytes: [UInt8]) {
    state.withLock { state in
      state.buffer += bytes
      while let end = state.buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let line = try? ControlLine(reading: Array(state.buffer[..<end]))
        state.buffer.removeFirst(end + 1)
        switch line {
        case .progress(let progress): bar.show(progress)
        case .outcome(let outcome): state.outcome = outcome
        case nil: break
        }
      }
      if state.buffer.count > ControlLine.maxBytes { state.buffer = [] }
    }
  }
}

extension CLISession {
  /// Sends a request as the signed-in user and returns the JSON of its response.
  fileprivate func response(
    _ method: ParleyWire.Method, _ path: String, _ members: (inout JSONWriter) -> Void
  ) async throws -> JSONValue {
    guard let known = RequestMethod(rawValue: method.name) else {
      throw Settings.UsageError(message: "\(method.name) can't be sent to another server.")
    }
    var request = Request<RawResponse>(known, path)
    if !method.isSafe { request.body = .object(members) }
    let response = try await client.send(request)
    return try JSONValue(parsing: response.body.isEmpty ? Array("{}".utf8) : response.body)
  }
}
