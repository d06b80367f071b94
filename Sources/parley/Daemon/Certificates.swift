import ParleyCrypto
import ParleyJSON
import ParleyNetworking

/// The server's certificate and key: files of the operator, or a self-signed pair in the data folder.
struct Certificates: Sendable {
  private let certificatePath: String
  private let keyPath: String
  private let ticketKeys: [UInt8]
  let isSelfSigned: Bool

  /// Nil without TLS.
  init?(_ settings: Settings, data: String) throws(Settings.UsageError) {
    isSelfSigned = settings.isOn(.selfSigned)
    switch (settings.text(.certificate), settings.text(.key)) {
    case (let certificate?, let key?):
      guard !isSelfSigned else {
        throw settings.mistake(.selfSigned, "and --tls-certificate are mutually exclusive.")
      }
      certificatePath = certificate
      keyPath = key
    case (nil, nil):
      guard isSelfSigned else { return nil }
      certificatePath = "\(data)/tls-certificate.pem"
      keyPath = "\(data)/tls-key.pem"
    default:
      throw settings.mistake(
        settings.text(.key) == nil ? .certificate : .key, "needs the other one of --tls-certificate and --tls-key.")
    }
    do {
      ticketKeys = try SecureRandom.bytes(TLSConfiguration.Identity.ticketKeyLength)
    } catch {
      throw Settings.UsageError(message: "Can't read random bytes: \(error).")
    }
  }

  /// Creates the self-signed certificate at the first start. It is stored, so that pinned fingerprints stay valid.
  func makeIfNeeded(names: [String]) throws(Settings.UsageError) {
    guard isSelfSigned, !FileSystem.exists(certificatePath) || !FileSystem.exists(keyPath) else { return }
    do {
      let pair = try SelfSigned(names: names)
      try FileSystem.write(pair.key, to: keyPath)
      try FileSystem.write(pair.certificate, to: certificatePath)
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
    (try? FileSystem.read(certificatePath)).flatMap { Certificate.list(fromPEM: $0).first }
  }

  /// The period before the end of a certificate in which the log warns, in seconds.
  private static let warningTime: Int64 = 14 * 86_400

  /// Sentences for the operator about a certificate that browsers refuse, or will soon. `now` is in seconds since 1970.
  func warnings(publicNames: [String], now: Int64) -> [String] {
    guard let certificate = current else { return [] }
    var warnings: [String] = []
    if let expiry = certificate.expiry, expiry - now < Self.warningTime {
      let date = Timestamp.format(Int(expiry) * 1_000).prefix(10)
      let remedy =
        isSelfSigned
        ? "Delete \(certificatePath) and restart, to get a new one."
        : ServiceManager.isCredential(certificatePath)
          ? "Renew it and restart the service: systemd reads credentials at the start alone."
          : "Renew it, write it to \(Setting.certificate.flag), and send SIGHUP."
      warnings.append(
        "The certificate \(certificatePath) \(expiry <= now ? "expired on" : "is valid only until") \(date). \(remedy)")
    }
    for name in publicNames where isSelfSigned && !certificate.covers(name) {
      warnings.append(
        "The self-signed certificate \(certificatePath) does not contain \(name), the name of \(Setting.publicURL.flag). "
          + "Delete it and restart, to get a new one, or set \(Setting.certificate.flag) and \(Setting.key.flag).")
    }
    return warnings
  }

  /// Reads the files. Session tickets remain valid across a reload.
  func load() throws(Settings.UsageError) -> (configuration: TLSConfiguration, digest: [UInt8], fingerprint: String) {
    let certificate = try FileSystem.read(certificatePath)
    let key = try FileSystem.read(keyPath)
    guard let fingerprint = Certificate.list(fromPEM: certificate).first?.fingerprint else {
      throw Settings.UsageError(message: "\(certificatePath) contains no certificate (PEM).")
    }
    let configuration = TLSConfiguration(
      role: .server(.init(certificates: certificate, key: key, ticketKeys: ticketKeys)))
    do {
      _ = try TLSContext(configuration)
    } catch {
      throw Settings.UsageError(message: "Can't use \(certificatePath) and \(keyPath): \(error).")
    }
    return (configuration, fingerprint, Hex.text(fingerprint))
  }
}
