import ParleyCrypto
import ParleyNetworking

/// Where the server's certificate comes from: two files, or one of our own making.
struct Certificates: Sendable {
  private let certificatePath: String
  private let keyPath: String
  private let ticketKeys: [UInt8]
  let isSelfSigned: Bool

  /// Nil when TLS is not asked for.
  init?(_ settings: Settings, data: String) throws(Settings.Mistake) {
    isSelfSigned = settings.isOn(.selfSigned)
    switch (settings.text(.certificate), settings.text(.key)) {
    case (let certificate?, let key?):
      guard !isSelfSigned else {
        throw Settings.Mistake(sentence: "--self-signed and --tls-certificate exclude each other.")
      }
      certificatePath = certificate
      keyPath = key
    case (nil, nil):
      guard isSelfSigned else { return nil }
      certificatePath = "\(data)/tls-certificate.pem"
      keyPath = "\(data)/tls-key.pem"
    default:
      throw Settings.Mistake(sentence: "--tls-certificate and --tls-key go together.")
    }
    do {
      ticketKeys = try SecureRandom.bytes(TLSConfiguration.Identity.ticketKeyLength)
    } catch {
      throw Settings.Mistake(sentence: "No random numbers are to be had: \(error).")
    }
  }

  /// Makes the certificate at the first start, and keeps it, so that who pinned it stays content.
  func makeIfNeeded(names: [String]) throws(Settings.Mistake) {
    guard isSelfSigned, !Folder.exists(certificatePath) || !Folder.exists(keyPath) else { return }
    do {
      let made = try SelfSigned(names: names)
      try Folder.write(made.key, to: keyPath)
      try Folder.write(made.certificate, to: certificatePath)
    } catch let mistake as Settings.Mistake {
      throw mistake
    } catch {
      throw Settings.Mistake(sentence: "No certificate could be made: \(error).")
    }
  }

  /// Reads the files as they are now. Session tickets stay good across a reload.
  func load() throws(Settings.Mistake) -> (configuration: TLSConfiguration, digest: [UInt8], fingerprint: String) {
    let certificate = try Folder.read(certificatePath)
    let key = try Folder.read(keyPath)
    guard let fingerprint = Certificate.list(fromPEM: certificate).first?.fingerprint else {
      throw Settings.Mistake(sentence: "\(certificatePath) holds no certificate (PEM).")
    }
    let configuration = TLSConfiguration(
      role: .server(.init(certificates: certificate, key: key, ticketKeys: ticketKeys)))
    do {
      _ = try TLSContext(configuration)
    } catch {
      throw Settings.Mistake(sentence: "\(certificatePath) and \(keyPath) can't be used: \(error).")
    }
    return (configuration, fingerprint, Hex.text(fingerprint))
  }
}
