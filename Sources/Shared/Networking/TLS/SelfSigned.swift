import CParleyOpenSSL

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
