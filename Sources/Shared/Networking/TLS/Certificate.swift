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
