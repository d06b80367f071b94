#if !canImport(CryptoKit)
internal import CParleyOpenSSL

// Signatures whose keys are those of others: ECDSA in DER, Ed25519 and RSA.
extension OpenSSL {
  /// ECDSA with a signature in DER, whose length varies.
  static func verifyP256(der signature: Span<UInt8>, of digest: Span<UInt8>, _ point: Span<UInt8>) -> Bool {
    guard digest.count == Digest.Algorithm.sha256.byteCount, point.count == P256.pointBytes else { return false }
    ERR_clear_error()
    let status = unsafe signature.withUnsafeBufferPointer { signature in
      unsafe digest.withUnsafeBufferPointer { digest in
        unsafe point.withUnsafeBufferPointer {
          unsafe parley_p256_verify_der($0.baseAddress, digest.baseAddress, signature.baseAddress, signature.count)
        }
      }
    }
    ERR_clear_error()
    return status == 1
  }

  static func signP256DER(_ digest: Span<UInt8>, _ secret: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    guard secret.count == P256.secretBytes, digest.count == Digest.Algorithm.sha256.byteCount else {
      throw CryptoError(operation: .p256, reason: "secret or digest of another length")
    }
    // More than any signature has: `parley_p256_sign_der` relies on it.
    var signature = [UInt8](repeating: 0, count: 80)
    ERR_clear_error()
    let count = unsafe digest.withUnsafeBufferPointer { digest in
      unsafe secret.withUnsafeBufferPointer { secret in
        unsafe signature.withUnsafeMutableBufferPointer {
          unsafe parley_p256_sign_der(secret.baseAddress, digest.baseAddress, $0.baseAddress)
        }
      }
    }
    try check(count > 0, .p256)
    return Array(signature.prefix(Int(count)))
  }

  // MARK: Ed25519

  static func makeEd25519() throws(CryptoError) -> (secret: [UInt8], point: [UInt8]) {
    var secret = [UInt8](repeating: 0, count: Ed25519.keyBytes)
    var point = [UInt8](repeating: 0, count: Ed25519.keyBytes)
    ERR_clear_error()
    let status = unsafe secret.withUnsafeMutableBufferPointer { secret in
      unsafe point.withUnsafeMutableBufferPointer { unsafe parley_ed25519_make(secret.baseAddress, $0.baseAddress) }
    }
    try check(status == 1, .ed25519)
    return (secret: secret, point: point)
  }

  static func pointOfEd25519(_ secret: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    guard secret.count == Ed25519.keyBytes else {
      throw CryptoError(operation: .ed25519, reason: "secret of another length")
    }
    var point = [UInt8](repeating: 0, count: Ed25519.keyBytes)
    ERR_clear_error()
    let status = unsafe secret.withUnsafeBufferPointer { secret in
      unsafe point.withUnsafeMutableBufferPointer { unsafe parley_ed25519_public(secret.baseAddress, $0.baseAddress) }
    }
    try check(status == 1, .ed25519)
    return point
  }

  static func isPointOfEd25519(_ point: Span<UInt8>) -> Bool {
    guard point.count == Ed25519.keyBytes else { return false }
    ERR_clear_error()
    let status = unsafe point.withUnsafeBufferPointer { unsafe parley_ed25519_has_point($0.baseAddress) }
    ERR_clear_error()
    return status == 1
  }

  static func signEd25519(_ bytes: Span<UInt8>, _ secret: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    guard secret.count == Ed25519.keyBytes else {
      throw CryptoError(operation: .ed25519, reason: "secret of another length")
    }
    var signature = [UInt8](repeating: 0, count: Ed25519.signatureBytes)
    ERR_clear_error()
    let status = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe secret.withUnsafeBufferPointer { secret in
        unsafe signature.withUnsafeMutableBufferPointer {
          unsafe parley_ed25519_sign(secret.baseAddress, bytes.baseAddress, bytes.count, $0.baseAddress)
        }
      }
    }
    try check(status == 1, .ed25519)
    return signature
  }

  static func verifyEd25519(_ signature: Span<UInt8>, of bytes: Span<UInt8>, _ point: Span<UInt8>) -> Bool {
    guard signature.count == Ed25519.signatureBytes, point.count == Ed25519.keyBytes else { return false }
    ERR_clear_error()
    let status = unsafe signature.withUnsafeBufferPointer { signature in
      unsafe bytes.withUnsafeBufferPointer { bytes in
        unsafe point.withUnsafeBufferPointer {
          unsafe parley_ed25519_verify($0.baseAddress, bytes.baseAddress, bytes.count, signature.baseAddress)
        }
      }
    }
    ERR_clear_error()
    return status == 1
  }

  // MARK: RSA

  static func verifyRSA(
    _ signature: Span<UInt8>, of digest: Span<UInt8>, modulus: Span<UInt8>, exponent: Span<UInt8>
  ) -> Bool {
    guard digest.count == Digest.Algorithm.sha256.byteCount else { return false }
    ERR_clear_error()
    let status = unsafe signature.withUnsafeBufferPointer { signature in
      unsafe digest.withUnsafeBufferPointer { digest in
        unsafe modulus.withUnsafeBufferPointer { modulus in
          unsafe exponent.withUnsafeBufferPointer {
            unsafe parley_rsa_verify(
              modulus.baseAddress, modulus.count, $0.baseAddress, $0.count, digest.baseAddress, signature.baseAddress,
              signature.count)
          }
        }
      }
    }
    ERR_clear_error()
    return status == 1
  }

  /// The private key in DER.
  static func makeRSA(bits: Int32) throws(CryptoError) -> [UInt8] {
    var secret = [UInt8](repeating: 0, count: RSA.maxSecretBytes)
    ERR_clear_error()
    let count = unsafe secret.withUnsafeMutableBufferPointer { unsafe parley_rsa_make(bits, $0.baseAddress, $0.count) }
    try check(count > 0, .rsa)
    return Array(secret.prefix(count))
  }

  static func modulusOfRSA(_ secret: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    var modulus = [UInt8](repeating: 0, count: RSA.maxModulusBytes)
    ERR_clear_error()
    let count = unsafe secret.withUnsafeBufferPointer { secret in
      unsafe modulus.withUnsafeMutableBufferPointer {
        unsafe parley_rsa_modulus(secret.baseAddress, secret.count, $0.baseAddress, $0.count)
      }
    }
    try check(count > 0, .rsa)
    return Array(modulus.prefix(count))
  }

  static func signRSA(_ digest: Span<UInt8>, _ secret: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    guard digest.count == Digest.Algorithm.sha256.byteCount else {
      throw CryptoError(operation: .rsa, reason: "digest of another length")
    }
    var signature = [UInt8](repeating: 0, count: RSA.maxModulusBytes)
    ERR_clear_error()
    let count = unsafe digest.withUnsafeBufferPointer { digest in
      unsafe secret.withUnsafeBufferPointer { secret in
        unsafe signature.withUnsafeMutableBufferPointer {
          unsafe parley_rsa_sign(secret.baseAddress, secret.count, digest.baseAddress, $0.baseAddress, $0.count)
        }
      }
    }
    try check(count > 0, .rsa)
    return Array(signature.prefix(count))
  }
}
#endif
