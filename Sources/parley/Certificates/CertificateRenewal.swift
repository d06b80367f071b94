import ACME
import ParleyCrypto
import ParleyJSON
import ParleyNetworking
import ParleyModel
import Synchronization

/// Answers to the challenges of a certificate authority, on the redirect listener (RFC 8555 §8.3).
final class ChallengeAnswers: Sendable {
  static let path = "/.well-known/acme-challenge/"
  private let answers = Mutex<[String: String]>([:])

  func publish(_ new: [String: String]) { answers.withLock { $0 = new } }

  /// The answer for a path; nil for another path or token.
  func answer(path: String) -> String? {
    guard path.hasPrefix(Self.path) else { return nil }
    let token = String(path.dropFirst(Self.path.count))
    return answers.withLock { $0[token] }
  }
}

/// Orders certificates of `--acme`, and renews them.
actor CertificateRenewal {
  static let interval = Duration.seconds(5)
  /// Seconds from a success to the next order, at most.
  private static let minInterval: Int64 = 3_600

  private let certificates: Certificates
  private let authority: AuthoritySettings
  private let challenges: ChallengeAnswers
  private let keyPath: String
  private let file: StateFile<OrderState>
  /// Puts a new certificate to use.
  private let apply: @Sendable () async -> Void
  private var state: OrderState
  /// The time from which the current certificate is renewed, in seconds since 1970; nil: not read yet.
  private var renewalTime: Int64?
  /// A certificate that waits for room on the disk. Ordering another one would not help.
  private var unwritten: (bytes: [UInt8], names: [String])?

  /// Nil without `--acme`.
  init?(
    _ certificates: Certificates?, _ challenges: ChallengeAnswers, data: String,
    log: @escaping @Sendable (String) -> Void, apply: @escaping @Sendable () async -> Void
  ) {
    guard let certificates, let authority = certificates.authority else { return nil }
    self.certificates = certificates
    self.authority = authority
    self.challenges = challenges
    self.apply = apply
    keyPath = "\(data)/acme-account.key"
    file = StateFile(OrderState.fileName, data: data, title: "The state of certificate orders", log: log)
    let new = OrderState(authority)
    if let stored = file.read() {
      let isForeign = stored.directory != new.directory
      state = isForeign || stored.names != new.names ? new : stored
      // The certificate of another authority is replaced, such as one of a trial.
      if isForeign { renewalTime = 0 }
    } else {
      state = new
    }
    if let reason = state.reason {
      let sentence = Self.sentence(reason, state.nextAttempt)
      certificates.fail(sentence)
      log(LogEvent.certificate.line(["result": "failed"], "The last order of a certificate failed. \(sentence)"))
    }
  }

  /// Orders a certificate if there is none, or if less than a third of its lifetime is left.
  func renewIfDue() async {
    let now = Clock.wall() / 1_000_000_000
    // A clock that was ahead does not hold the next attempt back.
    state.nextAttempt = min(state.nextAttempt, now + OrderState.maxRetryAfter)
    guard now >= state.nextAttempt else { return }
    if let unwritten { return await use(unwritten.bytes, unwritten.names, now: now) }
    let due = renewalTime ?? certificates.renewalTime(names: authority.names) ?? 0
    renewalTime = due
    guard now >= due else { return }
    await order(authority.names + authority.formerNames, now: now)
  }

  /// Ends the delay after a failure, unless the authority has asked for it.
  func retry() {
    guard !state.isAsked else { return }
    state.nextAttempt = 0
  }

  private func order(_ names: [String], now: Int64) async {
    let before = state
    state.failures += 1
    state.nextAttempt = now + OrderState.delay(failures: state.failures, retryAfter: nil)
    state.isAsked = false
    state.reason = OrderState.running
    // Without the file a daemon that crashes again and again would order each time.
    guard file.write(state) else {
      return fail("The data folder can't be written.", retryAfter: nil, before)
    }
    Terminal.log(
      .certificate, ["result": "ordering"],
      "Ordering a certificate for \(names.joined(separator: ", ")) at \(authority.authority.directory).")
    do {
      let issued = try await authority.authority.certificate(for: names, account: accountKey()) { [challenges] in
        challenges.publish($0)
      }
      await use(issued, names, now: Clock.wall() / 1_000_000_000)
    } catch ACMEFault.cancelled {
      // The daemon stops.
      file.write(before)
    } catch ACMEFault.failedChallenge(let name, let problem) where authority.formerNames.contains(name) {
      Terminal.log(
        .certificate, ["result": "warning"],
        Terminal.plain(ACMEFault.failedChallenge(name: name, problem).explanation)
          + " The certificate is ordered without this former name.")
      state = before
      await order(names.filter { $0 != name }, now: now)
    } catch let fault as ACMEFault {
      fail(fault.explanation, retryAfter: fault.retryAfter, before)
    } catch let error as Settings.UsageError {
      fail(error.message, retryAfter: nil, before)
    } catch {
      fail("\(error)", retryAfter: nil, before)
    }
  }

  /// Stores an issued certificate and serves it.
  private func use(_ issued: [UInt8], _ names: [String], now: Int64) async {
    unwritten = nil
    do throws(Settings.UsageError) {
      try certificates.check(issued: issued, names: names, now: now)
      do throws(Settings.UsageError) { try certificates.store(issued: issued) } catch {
        unwritten = (issued, names)
        throw error
      }
    } catch {
      return fail(error.message, retryAfter: nil, state)
    }
    state = OrderState(authority)
    file.write(state)
    let due = certificates.renewalTime(names: authority.names) ?? 0
    // A certificate that is due at once is not ordered again and again.
    renewalTime = max(due, now + min(Self.minInterval, max(0, (certificates.expiry ?? now) - now) / 2))
    await apply()
  }

  private func fail(_ reason: String, retryAfter: Int?, _ before: OrderState) {
    let now = Clock.wall() / 1_000_000_000
    let plain = Terminal.plain(reason)
    state.failures = before.failures + 1
    state.isAsked = retryAfter != nil
    state.nextAttempt = now + OrderState.delay(failures: state.failures, retryAfter: retryAfter)
    state.reason = plain
    file.write(state)
    let sentence = Self.sentence(plain, state.nextAttempt)
    certificates.fail(sentence)
    Terminal.log(.certificate, ["result": "failed"], sentence)
  }

  private static func sentence(_ reason: String, _ nextAttempt: Int64) -> String {
    "\(reason) The next attempt is at \(Timestamp.format(Int(nextAttempt) * 1_000))."
  }

  /// The key of the account is made once. Limits of an authority count by account.
  private func accountKey() throws -> ACMEKey {
    if FileSystem.exists(keyPath) {
      guard
        let key = Hex.bytes(String(decoding: try FileSystem.read(keyPath), as: UTF8.self)).flatMap(P256.init(secret:))
      else {
        throw Settings.UsageError(message: "\(keyPath) has no key. Delete it, to get a new account at the authority.")
      }
      return try ACMEKey(key)
    }
    let key = try P256()
    try FileSystem.write(Array(Hex.text(key.secret).utf8), to: keyPath)
    return try ACMEKey(key)
  }
}

/// The authority and the names of the last order, and failed orders since the last certificate. A restart goes on from it, so
/// that a daemon that restarts again and again stays below the limits of the authority.
struct OrderState: Equatable {
  static let fileName = "acme-orders.json"

  let directory: String
  let names: [String]
  var failures = 0
  /// In seconds since 1970.
  var nextAttempt: Int64 = 0
  /// Whether the authority has asked for this time.
  var isAsked = false
  /// The reason of the last failure.
  var reason: String?

  /// The reason while an order runs. It stays if the daemon is killed.
  static let running = "The last order did not end."
  var isRunning: Bool { reason == Self.running }

  private static let firstDelay: Int64 = 60
  private static let maxDelay: Int64 = 86_400
  /// Authorities limit orders by the week.
  static let maxRetryAfter: Int64 = 7 * 86_400

  init(_ settings: AuthoritySettings) {
    directory = settings.authority.directory.description
    names = settings.names + settings.formerNames
  }

  /// Seconds until the next attempt: doubled at each failure up to a day, with up to a quarter more, so that sites that
  /// failed at one time spread.
  static func delay(failures: Int, retryAfter: Int?) -> Int64 {
    let delay = min(firstDelay << min(max(failures - 1, 0), 16), maxDelay)
    let spread = delay + Int64.random(in: 0...delay / 4)
    return max(spread, min(Int64(max(retryAfter ?? 0, 0)), maxRetryAfter))
  }
}

extension OrderState: JSONWritable, JSONReadable {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("directory", directory)
      json.field("names", names)
      json.field("failures", failures)
      json.field("next_attempt", nextAttempt)
      json.field("asked", isAsked)
      if let reason { json.field("reason", reason) }
    }
  }

  init(json: JSONValue) throws(JSONError) {
    var object = try json.object()
    directory = try object.string("directory")
    names = try object.read("names")
    failures = try object.int("failures", in: 0...1_000_000)
    nextAttempt = Int64(try object.int("next_attempt"))
    isAsked = try object.bool("asked")
    reason = try object.optional("reason")
  }
}
