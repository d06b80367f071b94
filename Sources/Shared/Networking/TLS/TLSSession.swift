// OpenSSL over memory BIOs: the stream feeds received ciphertext and sends produced ciphertext. No call here uses the
// socket. OpenSSL's error queue is per thread, and a loop may change threads between turns, so it is cleared before
// each call and read in the same synchronous function.

import CParleyOpenSSL

struct TLSFailure: Error {
  let reason: String
}

@safe final class TLSSession {
  private let ssl: OpaquePointer
  /// Memory BIOs for received and produced ciphertext. Owned by `ssl`.
  private var incoming: OpaquePointer
  private var outgoing: OpaquePointer
  /// Bytes that passed through each BIO since it was created.
  private var fedBytes = 0
  private var droppedBytes = 0
  /// Unsent ciphertext bytes.
  private(set) var pending = 0
  /// Whether all received ciphertext was read. Another `SSL_read` would allocate OpenSSL's buffer to find nothing.
  private var isDrained = false
  private(set) var peerClosed = false
  private var isFailed = false
  /// The expected SHA-256 of the peer's certificate, checked after the handshake.
  private let pinned: [UInt8]?

  init?(context: OpaquePointer, isServer: Bool, serverName: String?, pinned: [UInt8]?) {
    guard let ssl = unsafe SSL_new(context) else { return nil }
    guard let incoming = unsafe BIO_new(BIO_s_mem()) else {
      unsafe SSL_free(ssl)
      return nil
    }
    guard let outgoing = unsafe BIO_new(BIO_s_mem()) else {
      unsafe BIO_free(incoming)
      unsafe SSL_free(ssl)
      return nil
    }
    unsafe SSL_set_bio(ssl, incoming, outgoing)
    unsafe self.ssl = ssl
    unsafe self.incoming = incoming
    unsafe self.outgoing = outgoing
    self.pinned = pinned
    if isServer {
      unsafe SSL_set_accept_state(ssl)
    } else {
      unsafe SSL_set_connect_state(ssl)
      // Without the name check OpenSSL accepts any trusted certificate.
      if let serverName, unsafe !Self.requireName(serverName, of: ssl) { return nil }
    }
  }

  deinit { unsafe SSL_free(ssl) }

  /// Sets the expected name of the peer's certificate. RFC 6066 §3: an IP address is not sent as a server name.
  private static func requireName(_ name: String, of ssl: OpaquePointer) -> Bool {
    if SocketAddress(host: name, port: 0) != nil {
      return unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1
    }
    return unsafe parley_SSL_set_tlsext_host_name(ssl, name) == 1 && SSL_set1_host(ssl, name) == 1
  }

  /// A memory BIO never shrinks. After this many bytes an empty BIO is replaced, so that an idle connection uses little
  /// memory.
  private static let maxUsed = 65_536

  private func replaceIncoming() {
    guard fedBytes > Self.maxUsed, unsafe BIO_ctrl_pending(incoming) == 0, let fresh = unsafe BIO_new(BIO_s_mem())
    else {
      return
    }
    unsafe SSL_set0_rbio(ssl, fresh)
    unsafe incoming = fresh
    fedBytes = 0
  }

  private func replaceOutgoing() {
    guard droppedBytes > Self.maxUsed, pending == 0, let fresh = unsafe BIO_new(BIO_s_mem())
    else {
      return
    }
    unsafe SSL_set0_wbio(ssl, fresh)
    unsafe outgoing = fresh
    droppedBytes = 0
  }

  /// Ciphertext from the socket.
  func feed(_ bytes: UnsafeRawBufferPointer) {
    // A memory BIO accepts all bytes. One read returns at most the size of the loop's buffer.
    fedBytes += bytes.count
    isDrained = false
    _ = unsafe BIO_write(incoming, bytes.baseAddress, Int32(bytes.count))
  }

  /// Advances the handshake. Returns true when it is complete.
  func handshake() throws(TLSFailure) -> Bool {
    parley_ERR_clear()
    let result = unsafe SSL_do_handshake(ssl)
    countPending()
    if result == 1 {
      try checkPin()
      return true
    }
    let error = unsafe SSL_get_error(ssl, result)
    if error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE { return false }
    throw failure(error)
  }

  /// The certificate of the peer, after the handshake.
  var peerCertificate: Certificate? {
    guard let certificate = unsafe SSL_get1_peer_certificate(ssl) else { return nil }
    return unsafe Certificate(owning: certificate)
  }

  private func checkPin() throws(TLSFailure) {
    guard let pinned else { return }
    guard let certificate = unsafe SSL_get1_peer_certificate(ssl) else { throw TLSFailure(reason: "no certificate") }
    guard unsafe Certificate(owning: certificate).fingerprint == pinned else {
      throw TLSFailure(reason: "the certificate is not the pinned one")
    }
  }

  /// Reads decrypted bytes. Returns 0 if none are available.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSFailure) -> Int {
    if peerClosed || isDrained { return 0 }
    parley_ERR_clear()
    let count = unsafe SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
    countPending()
    if count > 0 {
      if unsafe BIO_ctrl_pending(incoming) == 0 && SSL_has_pending(ssl) == 0 { drained() }
      return Int(count)
    }
    let error = unsafe SSL_get_error(ssl, count)
    switch error {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
      drained()
      return 0
    case SSL_ERROR_ZERO_RETURN:
      peerClosed = true
      return 0
    default:
      throw failure(error)
    }
  }

  private func drained() {
    isDrained = true
    replaceIncoming()
  }

  /// Encrypts a prefix of `bytes` and returns its length.
  func write(_ bytes: UnsafeRawBufferPointer) throws(TLSFailure) -> Int {
    guard bytes.count > 0 else { return 0 }
    parley_ERR_clear()
    let count = unsafe SSL_write(ssl, bytes.baseAddress, Int32(min(bytes.count, 16_384)))
    countPending()
    if count > 0 { return Int(count) }
    let error = unsafe SSL_get_error(ssl, count)
    if error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE { return 0 }
    throw failure(error)
  }

  /// Sends close_notify, so that the peer can detect truncation.
  func close() {
    guard !isFailed else { return }
    parley_ERR_clear()
    _ = unsafe SSL_shutdown(ssl)
    countPending()
  }

  // MARK: Outgoing ciphertext

  /// Only calls of OpenSSL produce ciphertext.
  private func countPending() { pending = unsafe BIO_ctrl_pending(outgoing) }

  func withCiphertext(_ body: (UnsafeRawBufferPointer) -> Int) -> Int {
    var start: UnsafeMutablePointer<CChar>?
    let count = unsafe parley_BIO_get_mem_data(outgoing, &start)
    return unsafe body(UnsafeRawBufferPointer(start: start, count: max(0, count)))
  }

  /// Removes sent ciphertext.
  func dropCiphertext(_ count: Int) {
    unsafe parley_BIO_drop(outgoing, count)
    pending -= count
    droppedBytes += count
    replaceOutgoing()
  }

  private func failure(_ error: Int32) -> TLSFailure {
    isFailed = true
    let code = ERR_get_error()
    guard code != 0 else { return TLSFailure(reason: "connection error \(error)") }
    guard let text = unsafe ERR_reason_error_string(code) else { return TLSFailure(reason: "error \(code)") }
    let reason = unsafe String(cString: text)
    guard code & 0x7fffff == SSL_R_CERTIFICATE_VERIFY_FAILED,
      let verdict = unsafe X509_verify_cert_error_string(SSL_get_verify_result(ssl))
    else { return TLSFailure(reason: reason) }
    return unsafe TLSFailure(reason: "\(reason): \(String(cString: verdict))")
  }
}
