import ACME
import ParleyCrypto
import ParleyJSON
import ParleyNetworking
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

  private let certificates: Certificates
  private let authority: AuthoritySettings
  private let challenges: ChallengeAnswers
  private let keyPath: String
  private let file: StateFile<OrderState>
  /// Puts a new certificate to use.
  private let apply: @Sendable () async -> Void
  private var state: OrderState
  /// The time of the next order, in seconds since 1970; nil: not known yet.
  private var dueTime: Int64?

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
    file = StateFile("acme-orders.json", data: data, title: "The state of certificate orders", log: log)
    let stored = file.read()
    // Another authority or other names: a new start.
    state =
      stored?.directory == authority.authority.directory.description && stored?.names == authority.names
      ? stored ?? OrderState(authority) : OrderState(authority)
  }

  /// Orders a certificate if there is none, or if less than a third of its lifetime is left.
  func renewIfDue() async {
    let now = Clock.wall() / 1_000_000_000
    let due = dueTime ?? max(certificates.renewalTime(names: authority.names) ?? 0, state.nextAttempt)
    dueTime = due
    guard now >= due else { return }
    dueTime = nil
    let names = authority.names.joined(separator: ", ")
    Terminal.log(
      .certificate, ["result": "ordering"], "Ordering a certificate for \(names) at \(authority.authority.directory).")
    do {
      let issued = try await authority.authority.certificate(for: authority.names, account: accountKey()) {
        [challenges] in challenges.publish($0)
      }
      try certificates.use(issued: issued, names: authority.names, now: Clock.wall() / 1_000_000_000)
      succeed()
      await apply()
    } catch ACMEFault.cancelled {
      // The daemon stops.
    } catch let fault as ACMEFault {
      fail(fault.explanation, retryAfter: fault.retryAfter)
    } catch let error as Settings.UsageError {
      fail(error.message, retryAfter: nil)
    } catch {
      fail("\(error)", retryAfter: nil)
    }
  }

  private func succeed() {
    state = OrderState(authority)
    file.write(nil)
  }

  private func fail(_ reason: String, retryAfter: Int?) {
    let now = Clock.wall() / 1_000_000_000
    state.failures += 1
    state.nextAttempt = now + OrderState.delay(failures: state.failures, retryAfter: retryAfter)
    file.write(state)
    let sentence =
      "\(reason) The next attempt is at \(Timestamp.format(Int(state.nextAttempt) * 1_000))."
    certificates.fail(sentence)
    Terminal.log(.certificate, ["result": "failed"], Terminal.plain(sentence))
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

/// Failed orders since the last certificate. A restart goes on from it, so that a daemon that restarts again and again
/// stays below the limits of the authority.
struct OrderState: Equatable {
  let directory: String
  let names: [String]
  var failures = 0
  /// In seconds since 1970.
  var nextAttempt: Int64 = 0

  private static let firstDelay: Int64 = 60
  private static let maxDelay: Int64 = 86_400
  /// Authorities limit orders by the week.
  private static let maxRetryAfter = 7 * 86_400

  init(_ settings: AuthoritySettings) {
    directory = settings.authority.directory.description
    names = settings.names
  }

  /// Seconds until the next attempt: doubled at each failure up to a day, with up to a quarter more, so that sites that
  /// failed at one time spread.
  static func delay(failures: Int, retryAfter: Int?) -> Int64 {
    let delay = min(firstDelay << min(max(failures - 1, 0), 16), maxDelay)
    let spread = delay + Int64.random(in: 0...delay / 4)
    return max(spread, Int64(min(max(retryAfter ?? 0, 0), maxRetryAfter)))
  }
}

extension OrderState: JSONWritable, JSONReadable {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("directory", directory)
      json.field("names", names)
      json.field("failures", failures)
      json.field("next_attempt", nextAttempt)
    }
  }

  init(json: JSONValue) throws(JSONError) {
    var object = try json.object()
    directory = try object.string("directory")
    names = try object.read("names")
    failures = try object.int("failures", in: 0...1_000_000)
    nextAttempt = Int64(try object.int("next_attempt"))
  }
}
