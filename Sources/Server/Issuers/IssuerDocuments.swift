import OIDC
import Synchronization

/// The documents of an issuer, in memory.
final class IssuerDocuments: Sendable {
  let metadata = StoredDocument<ProviderMetadata>()
  let keys = StoredDocument<KeySet>()
}

/// A document that is read on demand, once for all waiting callers.
final class StoredDocument<Value: Sendable>: Sendable {
  /// Maximum age of a stored document in milliseconds. A withdrawn key of the issuer is accepted until then.
  static var maxAge: Int64 { 3_600_000 }
  /// Minimum milliseconds between two reads of a document without the needed data, such as the key of a token.
  static var interval: Int64 { 60_000 }
  /// Minimum milliseconds between two reads that fail.
  static var retryInterval: Int64 { 2_000 }

  private typealias Reading = Task<Result<Value, OIDCFault>, Never>

  private struct State {
    var value: Value?
    var readAt: Int64 = 0
    var fault: OIDCFault?
    var failedAt = Int64.min / 2
    var reading: Reading?
  }

  private enum Step {
    case done(Result<Value, OIDCFault>)
    case wait(Reading)
  }

  private let state = Mutex(State())

  /// - Parameters:
  ///   - now: in milliseconds, of a monotonic clock.
  ///   - isEnough: whether the document has the data of this caller. Otherwise it is read again, at most once a minute.
  func value(
    at now: Int64, isEnough: (Value) -> Bool, read: @escaping @Sendable () async throws(OIDCFault) -> Value
  ) async throws(OIDCFault) -> Value {
    let step: Step = state.withLock { state in
      if let value = state.value, now - state.readAt < Self.maxAge,
        isEnough(value) || now - max(state.readAt, state.failedAt) < Self.interval
      {
        return .done(.success(value))
      }
      if let reading = state.reading { return .wait(reading) }
      if let fault = state.fault, now - state.failedAt < Self.retryInterval { return .done(.failure(fault)) }
      let reading = Reading { [self] in
        let result: Result<Value, OIDCFault>
        do throws(OIDCFault) { result = .success(try await read()) } catch { result = .failure(error) }
        finish(result, at: now)
        return result
      }
      state.reading = reading
      return .wait(reading)
    }
    switch step {
    case .done(let result): return try result.get()
    case .wait(let reading): return try await reading.value.get()
    }
  }

  private func finish(_ result: Result<Value, OIDCFault>, at now: Int64) {
    state.withLock { state in
      state.reading = nil
      switch result {
      case .success(let value): (state.value, state.readAt, state.fault) = (value, now, nil)
      case .failure(let fault): (state.fault, state.failedAt) = (fault, now)
      }
    }
  }
}
