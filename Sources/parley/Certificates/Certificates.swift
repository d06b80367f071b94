import ParleyCrypto
import ParleyJSON
import ParleyNetworking
import Synchronization
import Web

/// The server's certificate and key: files of the operator, or of the data folder.
final class Certificates: Sendable {
  private enum Source {
    case files(Pair)
    case selfSigned
    case authority
  }

  /// The paths of a certificate and its key.
  private struct Pair {
    let certificate: String
    let key: String
  }

  private let source: Source
  /// A self-signed pair of the data folder.
  private let selfSigned: Pair
  /// A key and its chain, in one file, which is replaced at once.
  private let issuedPath: String
  private let ticketKeys: [UInt8]
  /// The reason why there is no new certificate of the authority.
  private let orderFault = Mutex<String?>(nil)
  /// The certificate authority of `--acme`.
  let authority: AuthoritySettings?

  /// Nil without TLS.
  init?(_ settings: Settings, _ addresses: Addresses, data: String) throws(Settings.UsageError) {
    authority = try AuthoritySettings(settings, addresses)
    let isSelfSigned = settings.isOn(.selfSigned)
    if authority != nil, isSelfSigned || settings.text(.certificate) != nil {
      throw settings.mistake(
        .acme, "excludes \(Setting.selfSigned.flag) and \(Setting.certificate.flag): it gets its own certificates.")
    }
    switch (settings.text(.certificate), settings.text(.key)) {
    case (let certificate?, let key?):
      guard !isSelfSigned else {
        throw settings.mistake(.selfSigned, "and --tls-certificate are mutually exclusive.")
      }
      source = .files(Pair(certificate: certificate, key: key))
    case (nil, nil):
      guard isSelfSigned || authority != nil else { return nil }
      source = isSelfSigned ? .selfSigned : .authority
    default:
      throw settings.mistake(
        settings.text(.key) == nil ? .certificate : .key, "needs the other one of --tls-certificate and --tls-key.")
    }
    selfSigned = Pair(certificate: "\(data)/tls-certificate.pem", key: "\(data)/tls-key.pem")
    issuedPath = Self.issuedPath(data)
    do {
      ticketKeys = try SecureRandom.bytes(TLSConfiguration.Identity.ticketKeyLength)
    } catch {
      throw Settings.UsageError(message: "Can't read random bytes: \(error).")
    }
  }

  private var pair: Pair {
    switch source {
    case .files(let pair): pair
    case .selfSigned: selfSigned
    case .authority:
      FileSystem.exists(issuedPath) ? Pair(certificate: issuedPath, key: issuedPath) : selfSigned
    }
  }

  var isSelfSigned: Bool { pair.certificate == selfSigned.certificate }

  /// Creates the self-signed certificate at the first start. It is stored, so that pinned fingerprints stay valid. With an
  /// authority it serves until the first certificate comes.
  func makeIfNeeded(names: [String]) throws(Settings.UsageError) {
    if case .authority = source, FileSystem.exists(issuedPath), (try? load()) == nil {
      // The authority issues another one.
      try FileSystem.remove(issuedPath)
    }
    let pair = self.pair
    guard isSelfSigned, !FileSystem.exists(pair.certificate) || !FileSystem.exists(pair.key) else { return }
    do {
      let made = try SelfSigned(names: names)
      try FileSystem.write(made.key, to: pair.key)
      try FileSystem.write(made.certificate, to: pair.certificate)
    } catch let error as Settings.UsageError {
      throw error
    } catch {
      throw Settings.UsageError(message: "Can't create a certificate: \(error).")
    }
  }

  /// The end of the certificate, in seconds since 1970.
  var expiry: Int64? { current?.expiry }

  /// Nil for a file that is unreadable or has no certificate. `load` reports it.
  private var current: Certificate? {
    (try? FileSystem.read(pair.certificate)).flatMap { Certificate.list(fromPEM: $0).first }
  }

  // MARK: Certificates of an authority

  /// The time from which the certificate is to be renewed, in seconds since 1970: a third of its lifetime before its end.
  /// Nil if there is none, or not for these names.
  func renewalTime(names: [String]) -> Int64? {
    guard !isSelfSigned, let certificate = current, let start = certificate.start, let end = certificate.expiry,
      names.allSatisfy(certificate.covers)
    else { return nil }
    return end - max(0, end - start) / 3
  }

  /// Refuses a key and its chain (PEM) of an authority that browsers will not accept for these names.
  func check(issued bytes: [UInt8], names: [String], now: Int64) throws(Settings.UsageError) {
    guard let certificate = Certificate.list(fromPEM: bytes).first, names.allSatisfy(certificate.covers),
      let end = certificate.expiry, end > now
    else {
      throw Settings.UsageError(
        message: "The new certificate has ended or is not for \(names.joined(separator: ", ")).")
    }
    _ = try configuration(certificates: bytes, key: bytes, "the new certificate")
  }

  func store(issued bytes: [UInt8]) throws(Settings.UsageError) {
    try FileSystem.write(bytes, to: issuedPath)
    fail(nil)
  }

  // Another process asks the data folder.

  /// Whether the data folder has a certificate of an authority.
  static func isIssued(data: String) -> Bool { FileSystem.exists(issuedPath(data)) }

  /// The reason of the last failed order in the data folder; nil after a success, or while an order runs.
  static func orderFault(data: String) -> String? {
    let path = "\(data)/\(OrderState.fileName)"
    guard FileSystem.exists(path), let bytes = try? FileSystem.read(path) else { return nil }
    let state = try? OrderState(json: JSONValue(parsing: bytes))
    return state?.isRunning == true ? nil : state?.reason
  }

  private static func issuedPath(_ data: String) -> String { "\(data)/acme-certificate.pem" }

  /// Remembers why an order failed; nil after a success.
  func fail(_ sentence: String?) { orderFault.withLock { $0 = sentence } }

  /// The period before the end of a certificate in which the log warns, in seconds. Of an ordered one the last quarter of
  /// the lifetime counts, which authorities shorten.
  private static let warningTime: Int64 = 14 * 86_400

  /// Sentences for the operator about a certificate that browsers refuse, or will soon. `now` is in seconds since 1970.
  func warnings(publicNames: [String], now: Int64) -> [String] {
    guard let certificate = current else { return [] }
    let path = pair.certificate
    var warnings: [String] = []
    if let fault = orderFault.withLock({ $0 }),
      isSelfSigned || isEnding(certificate, now: now) || !publicNames.allSatisfy(certificate.covers)
    {
      warnings.append("There is no new certificate. \(fault)")
    } else if let expiry = certificate.expiry, isEnding(certificate, now: now) {
      let date = Timestamp.format(Int(expiry) * 1_000).prefix(10)
      warnings.append(
        "The certificate \(path) \(expiry <= now ? "expired on" : "is valid only until") \(date). \(remedy(path))")
    }
    for name in publicNames where isSelfSigned && authority == nil && !certificate.covers(name) {
      warnings.append(
        "The self-signed certificate \(path) does not contain \(name), the name of \(Setting.publicURL.flag). "
          + "Delete it and restart, to get a new one, or set \(Setting.certificate.flag) and \(Setting.key.flag).")
    }
    return warnings
  }

  private func isEnding(_ certificate: Certificate, now: Int64) -> Bool {
    guard let start = certificate.start, let end = certificate.expiry else { return false }
    return end - now < (authority == nil ? Self.warningTime : min(Self.warningTime, max(0, end - start) / 4))
  }

  private func remedy(_ path: String) -> String {
    switch source {
    case .selfSigned: "Delete \(path) and restart, to get a new one."
    case .authority: "The daemon renews it. Look for event=certificate in the log."
    case .files:
      ServiceManager.isCredential(path)
        ? "Renew it and restart the service: systemd reads credentials at the start alone."
        : "Renew it, write it to \(Setting.certificate.flag), and send SIGHUP."
    }
  }

  /// Reads the files. Session tickets remain valid across a reload.
  func load() throws(Settings.UsageError) -> (configuration: TLSConfiguration, digest: [UInt8], fingerprint: String) {
    let pair = self.pair
    let certificate = try FileSystem.read(pair.certificate)
    let key = try FileSystem.read(pair.key)
    guard let fingerprint = Certificate.list(fromPEM: certificate).first?.fingerprint else {
      throw Settings.UsageError(message: "\(pair.certificate) contains no certificate (PEM).")
    }
    let configuration = try configuration(
      certificates: certificate, key: key, "\(pair.certificate) and \(pair.key)")
    return (configuration, fingerprint, Hex.text(fingerprint))
  }

  private func configuration(
    certificates: [UInt8], key: [UInt8], _ title: String
  ) throws(Settings.UsageError) -> TLSConfiguration {
    let configuration = TLSConfiguration(
      role: .server(.init(certificates: certificates, key: key, ticketKeys: ticketKeys)))
    do { _ = try TLSContext(configuration) } catch {
      throw Settings.UsageError(message: "Can't use \(title): \(error).")
    }
    return configuration
  }
}
