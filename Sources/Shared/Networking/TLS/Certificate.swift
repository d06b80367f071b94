import CParleyOpenSSL

/// An X.509 certificate.
@safe public final class Certificate {
  let pointer: OpaquePointer

  init(owning pointer: OpaquePointer) {
    unsafe self.pointer = pointer
  }

  deinit { unsafe X509_free(pointer) }

  /// Parses the certificates of a PEM text, in order.
  public static func list(fromPEM pem: [UInt8]) -> [Certificate] {
    guard let bio = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return [] }
    defer { unsafe BIO_free(bio) }
    var certificates: [Certificate] = []
    while let certificate = unsafe PEM_read_bio_X509(bio, nil, nil, nil) {
      certificates.append(unsafe Certificate(owning: certificate))
    }
    ERR_clear_error()  // OpenSSL reports the end of the text as an error.
    return certificates
  }

  /// The begin of the validity, in seconds since 1970; nil if it is malformed.
  public var start: Int64? {
    let time = unsafe parley_X509_not_before(pointer)
    return time < 0 ? nil : Int64(time)
  }

  /// The end of the validity, in seconds since 1970; nil if it is malformed.
  public var expiry: Int64? {
    let time = unsafe parley_X509_not_after(pointer)
    return time < 0 ? nil : Int64(time)
  }

  /// Whether the certificate is valid for a host name or an IP address.
  public func covers(_ host: String) -> Bool {
    let isAddress = SocketAddress(host: host, port: 0) != nil
    return unsafe parley_X509_covers(pointer, host, isAddress ? 1 : 0) == 1
  }

  /// The SHA-256 of the certificate (DER), for pinning.
  public var fingerprint: [UInt8]? {
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    guard unsafe X509_digest(pointer, EVP_sha256(), &digest, &length) == 1, length == 32 else { return nil }
    return digest
  }
}

/// A key and a self-signed certificate. Clients pin its fingerprint.
public struct SelfSigned: Sendable {
  public let certificate: [UInt8]
  public let key: [UInt8]

  /// Creates an ECDSA P-256 key and a certificate, valid for ten years, for these host names and addresses.
  public init(names: [String], now: Int64 = Clock.wall()) throws(StreamError) {
    guard let key = unsafe parley_new_p256_key() else { throw TLSContext.failure("creating a key") }
    defer { unsafe EVP_PKEY_free(key) }
    let alternatives = names.map { name in
      SocketAddress(host: name, port: 0) == nil ? "DNS:\(name)" : "IP:\(name)"
    }.joined(separator: ",")
    guard
      let certificate = unsafe parley_self_signed(
        key, names.first ?? "localhost", alternatives, Int(now / 1_000_000_000), 3_650)
    else { throw TLSContext.failure("creating a certificate for \(names)") }
    defer { unsafe X509_free(certificate) }
    self.certificate = try unsafe Self.pem { unsafe PEM_write_bio_X509($0, certificate) }
    self.key = try unsafe Self.pem { unsafe PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
  }

  private static func pem(_ write: (OpaquePointer) -> Int32) throws(StreamError) -> [UInt8] {
    guard let bio = unsafe BIO_new(BIO_s_mem()) else { throw TLSContext.failure("no memory") }
    defer { unsafe BIO_free(bio) }
    guard unsafe write(bio) == 1 else { throw TLSContext.failure("PEM") }
    var start: UnsafeMutablePointer<CChar>?
    let count = unsafe parley_BIO_get_mem_data(bio, &start)
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: max(0, count)))
  }
}
