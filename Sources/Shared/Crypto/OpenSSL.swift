#if !canImport(CryptoKit)
internal import CParleyOpenSSL

/// All calls to OpenSSL, with `OpenSSLSignatures`: each function takes spans, returns arrays, and passes pointers only to
/// calls that do not store them.
///
/// OpenSSL's error queue is per thread. It is cleared before each call and read in the same function, so that errors of
/// other connections are not reported.
enum OpenSSL {
  static func digest(_ algorithm: Digest.Algorithm, _ bytes: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: algorithm.byteCount)
    ERR_clear_error()
    let status = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe result.withUnsafeMutableBufferPointer { result in
        switch algorithm {
        case .sha1: unsafe parley_sha1(bytes.baseAddress, bytes.count, result.baseAddress)
        case .sha256: unsafe parley_sha256(bytes.baseAddress, bytes.count, result.baseAddress)
        case .blake2b:
          unsafe EVP_Digest(bytes.baseAddress, bytes.count, result.baseAddress, nil, EVP_blake2b512(), nil)
        }
      }
    }
    try check(status == 1, .digest)
    return result
  }

  static func hmac(
    _ algorithm: Digest.Algorithm, _ bytes: Span<UInt8>, key: Span<UInt8>
  ) throws(CryptoError) -> [UInt8] {
    guard let keyCount = Int32(exactly: key.count) else { throw CryptoError(operation: .hmac, reason: "key too long") }
    var result = [UInt8](repeating: 0, count: algorithm.byteCount)
    ERR_clear_error()
    let isDone = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe key.withUnsafeBufferPointer { key in
        unsafe result.withUnsafeMutableBufferPointer { result in
          unsafe CParleyOpenSSL.HMAC(
            algorithm.implementation, key.baseAddress, keyCount, bytes.baseAddress, bytes.count, result.baseAddress,
            nil) != nil
        }
      }
    }
    try check(isDone, .hmac)
    return result
  }

  /// AES-GCM: the cipher text and its tag.
  static func seal(
    _ bytes: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>, context: Span<UInt8>
  ) throws(CryptoError) -> [UInt8] {
    guard isKey(key), nonce.count == AESGCM.nonceBytes else {
      throw CryptoError(operation: .seal, reason: "key or nonce of another length")
    }
    var result = [UInt8](repeating: 0, count: bytes.count + AESGCM.tagBytes)
    ERR_clear_error()
    let status = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe key.withUnsafeBufferPointer { key in
        unsafe nonce.withUnsafeBufferPointer { nonce in
          unsafe context.withUnsafeBufferPointer { context in
            unsafe result.withUnsafeMutableBufferPointer { result in
              unsafe parley_seal(
                key.baseAddress, key.count, nonce.baseAddress, context.baseAddress, context.count, bytes.baseAddress,
                bytes.count, result.baseAddress)
            }
          }
        }
      }
    }
    try check(status == 1, .seal)
    return result
  }

  /// Nil if the tag is wrong: another key or context, or changed bytes.
  static func unseal(
    _ sealed: Span<UInt8>, key: Span<UInt8>, nonce: Span<UInt8>, context: Span<UInt8>
  ) throws(CryptoError) -> [UInt8]? {
    guard isKey(key), nonce.count == AESGCM.nonceBytes, sealed.count >= AESGCM.tagBytes else {
      throw CryptoError(operation: .unseal, reason: "key, nonce or text of another length")
    }
    var result = [UInt8](repeating: 0, count: sealed.count - AESGCM.tagBytes)
    ERR_clear_error()
    let status = unsafe sealed.withUnsafeBufferPointer { sealed in
      unsafe key.withUnsafeBufferPointer { key in
        unsafe nonce.withUnsafeBufferPointer { nonce in
          unsafe context.withUnsafeBufferPointer { context in
            unsafe result.withUnsafeMutableBufferPointer { result in
              unsafe parley_unseal(
                key.baseAddress, key.count, nonce.baseAddress, context.baseAddress, context.count, sealed.baseAddress,
                result.count, result.baseAddress)
            }
          }
        }
      }
    }
    try check(status >= 0, .unseal)
    return status == 1 ? result : nil
  }

  private static func isKey(_ key: Span<UInt8>) -> Bool { key.count == 16 || key.count == 32 }

  // MARK: P-256

  static func makeP256() throws(CryptoError) -> (secret: [UInt8], point: [UInt8]) {
    var secret = [UInt8](repeating: 0, count: P256.secretBytes)
    var point = [UInt8](repeating: 0, count: P256.pointBytes)
    ERR_clear_error()
    let status = unsafe secret.withUnsafeMutableBufferPointer { secret in
      unsafe point.withUnsafeMutableBufferPointer { unsafe parley_p256_make(secret.baseAddress, $0.baseAddress) }
    }
    try check(status == 1, .p256)
    return (secret: secret, point: point)
  }

  /// The point of a secret; nil if it is no number of the curve.
  static func pointOfP256(_ secret: Span<UInt8>) -> [UInt8]? {
    guard secret.count == P256.secretBytes else { return nil }
    var point = [UInt8](repeating: 0, count: P256.pointBytes)
    ERR_clear_error()
    let status = unsafe secret.withUnsafeBufferPointer { secret in
      unsafe point.withUnsafeMutableBufferPointer { unsafe parley_p256_point(secret.baseAddress, $0.baseAddress) }
    }
    ERR_clear_error()
    return status == 1 ? point : nil
  }

  static func isPointOfP256(_ point: Span<UInt8>) -> Bool {
    guard point.count == P256.pointBytes else { return false }
    ERR_clear_error()
    let status = unsafe point.withUnsafeBufferPointer { unsafe parley_p256_has_point($0.baseAddress) }
    ERR_clear_error()
    return status == 1
  }

  static func agreeP256(_ secret: Span<UInt8>, with point: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    guard secret.count == P256.secretBytes, point.count == P256.pointBytes else {
      throw CryptoError(operation: .p256, reason: "secret or point of another length")
    }
    var shared = [UInt8](repeating: 0, count: P256.secretBytes)
    ERR_clear_error()
    let status = unsafe secret.withUnsafeBufferPointer { secret in
      unsafe point.withUnsafeBufferPointer { point in
        unsafe shared.withUnsafeMutableBufferPointer {
          unsafe parley_p256_agree(secret.baseAddress, point.baseAddress, $0.baseAddress)
        }
      }
    }
    try check(status == 1, .p256)
    return shared
  }

  static func signP256(_ digest: Span<UInt8>, _ secret: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    guard secret.count == P256.secretBytes, digest.count == Digest.Algorithm.sha256.byteCount else {
      throw CryptoError(operation: .p256, reason: "secret or digest of another length")
    }
    var signature = [UInt8](repeating: 0, count: P256.signatureBytes)
    ERR_clear_error()
    let status = unsafe digest.withUnsafeBufferPointer { digest in
      unsafe secret.withUnsafeBufferPointer { secret in
        unsafe signature.withUnsafeMutableBufferPointer {
          unsafe parley_p256_sign(secret.baseAddress, digest.baseAddress, $0.baseAddress)
        }
      }
    }
    try check(status == 1, .p256)
    return signature
  }

  static func verifyP256(_ signature: Span<UInt8>, of digest: Span<UInt8>, _ point: Span<UInt8>) -> Bool {
    guard signature.count == P256.signatureBytes, digest.count == Digest.Algorithm.sha256.byteCount,
      point.count == P256.pointBytes
    else { return false }
    ERR_clear_error()
    let status = unsafe signature.withUnsafeBufferPointer { signature in
      unsafe digest.withUnsafeBufferPointer { digest in
        unsafe point.withUnsafeBufferPointer {
          unsafe parley_p256_verify($0.baseAddress, digest.baseAddress, signature.baseAddress)
        }
      }
    }
    ERR_clear_error()
    return status == 1
  }

  // MARK: Passwords and random bytes

  static func scrypt(
    _ parameters: Scrypt, password: Span<UInt8>, salt: Span<UInt8>, byteCount: Int
  ) throws(CryptoError) -> [UInt8] {
    guard byteCount > 0, let cost = UInt64(exactly: parameters.cost),
      let blockSize = UInt64(exactly: parameters.blockSize), let parallelism = UInt64(exactly: parameters.parallelism)
    else { throw CryptoError(operation: .scrypt, reason: "negative parameter") }
    var result = [UInt8](repeating: 0, count: byteCount)
    ERR_clear_error()
    let status = unsafe password.withUnsafeBufferPointer { password in
      unsafe salt.withUnsafeBufferPointer { salt in
        unsafe result.withUnsafeMutableBufferPointer { result in
          unsafe password.withMemoryRebound(to: CChar.self) { password in
            unsafe EVP_PBE_scrypt(
              password.baseAddress, password.count, salt.baseAddress, salt.count, cost, blockSize, parallelism,
              UInt64(Scrypt.memoryLimit), result.baseAddress, result.count)
          }
        }
      }
    }
    try check(status == 1, .scrypt)
    return result
  }

  static func random(_ count: Int) throws(CryptoError) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: count)
    let status = unsafe result.withUnsafeMutableBufferPointer { unsafe parley_random($0.baseAddress, $0.count) }
    if status != 1 { throw CryptoError(operation: .random, reason: "the kernel has no random bytes") }
    return result
  }

  /// Compares two spans of the same length.
  static func isEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    unsafe left.withUnsafeBufferPointer { left in
      unsafe right.withUnsafeBufferPointer { right in
        guard let first = left.baseAddress, let second = right.baseAddress else { return left.count == right.count }
        return unsafe CRYPTO_memcmp(first, second, min(left.count, right.count)) == 0
      }
    }
  }

  static func check(_ isDone: Bool, _ operation: CryptoError.Operation) throws(CryptoError) {
    if !isDone { throw CryptoError(operation: operation, reason: lastError()) }
  }

  private static func lastError() -> String {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard code != 0 else { return "no reason given" }
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
      unsafe ERR_error_string_n(code, text.baseAddress, text.count)
      return unsafe text.baseAddress.map { unsafe String(cString: $0) } ?? "no reason given"
    }
  }
}

/// Owns OpenSSL's digest context and frees it.
@safe struct DigestContext: ~Copyable {
  private let context: OpaquePointer
  private let byteCount: Int

  init(_ algorithm: Digest.Algorithm) throws(CryptoError) {
    ERR_clear_error()
    guard let context = unsafe EVP_MD_CTX_new() else {
      throw CryptoError(operation: .digest, reason: "out of memory")
    }
    do {
      try OpenSSL.check(unsafe EVP_DigestInit_ex(context, algorithm.implementation, nil) == 1, .digest)
    } catch {
      unsafe EVP_MD_CTX_free(context)
      throw error
    }
    unsafe self.context = context
    byteCount = algorithm.byteCount
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  mutating func update(_ bytes: Span<UInt8>) throws(CryptoError) {
    ERR_clear_error()
    let status = unsafe bytes.withUnsafeBufferPointer { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
    try OpenSSL.check(status == 1, .digest)
  }

  consuming func finish() throws(CryptoError) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: byteCount)
    ERR_clear_error()
    let status = unsafe result.withUnsafeMutableBufferPointer {
      unsafe EVP_DigestFinal_ex(context, $0.baseAddress, nil)
    }
    try OpenSSL.check(status == 1, .digest)
    return result
  }
}

extension Digest.Algorithm {
  fileprivate var implementation: OpaquePointer? {
    switch self {
    case .sha1: unsafe EVP_sha1()
    case .sha256: unsafe EVP_sha256()
    case .blake2b: unsafe EVP_blake2b512()
    }
  }
}
#endif
