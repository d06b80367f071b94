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

  /// The SHA-256 of the certificate (DER), for pinning.
  public var fingerprint: [UInt8]? {
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    guard unsafe X509_digest(pointer, EVP_sha256(), &digest, &length) == 1, length == 32 else { return nil }
    return digest
  }
}
