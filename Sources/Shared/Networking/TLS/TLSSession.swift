// OpenSSL over memory BIOs: the stream puts ciphertext in and takes ciphertext out, and no call here touches a socket.
// OpenSSL's error queue belongs to a thread, and a loop has none of its own: it is cleared before each call and read in
// the same synchronous function.

import CParleyOpenSSL

struct TLSFailure: Error {
  let reason: String
}

@safe final class TLSSession {
  private let ssl: OpaquePointer
  /// Ciphertext from the peer, and ciphertext for it. Owned by `ssl`.
  private var incoming: OpaquePointer
  private var outgoing: OpaquePointer
  /// Bytes that went through each since it was new.
  private var fed = 0
  private var dropped = 0
  private(set) var peerClosed = false
  private var isFailed = false
  /// The SHA-256 that the peer's certificate must have, looked at once the handshake is done.
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
      // A name that can't be expected would let every certificate through.
      if let serverName, unsafe !Self.expect(serverName, of: ssl) { return nil }
    }
  }

  deinit { unsafe SSL_free(ssl) }

  /// The name that the peer's certificate must bear. RFC 6066 §3: an address is not sent as a server name.
  private static func expect(_ name: String, of ssl: OpaquePointer) -> Bool {
    if SocketAddress(host: name, port: 0) != nil {
      return unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1
    }
    return unsafe parley_SSL_set_tlsext_host_name(ssl, name) == 1 && SSL_set1_host(ssl, name) == 1
  }

  /// A memory BIO never gives back what it once held. One that has carried a large transfer and is empty makes room for a
  /// new one, so that a connection that rests afterwards costs little.
  private static let worn = 65_536

  private func renewIncoming() {
    guard fed > Self.worn, unsafe BIO_ctrl_pending(incoming) == 0, let fresh = unsafe BIO_new(BIO_s_mem()) else {
      return
    }
    unsafe SSL_set0_rbio(ssl, fresh)
    unsafe incoming = fresh
    fed = 0
  }

  private func renewOutgoing() {
    guard dropped > Self.worn, unsafe BIO_ctrl_pending(outgoing) == 0, let fresh = unsafe BIO_new(BIO_s_mem()) else {
      return
    }
    unsafe SSL_set0_wbio(ssl, fresh)
    unsafe outgoing = fresh
    dropped = 0
  }

  /// Ciphertext from the socket.
  func feed(_ bytes: UnsafeRawBufferPointer) {
    // A memory BIO takes all it is given; what a peer sends in one read is at most the loop's buffer.
    fed += bytes.count
    _ = unsafe BIO_write(incoming, bytes.baseAddress, Int32(bytes.count))
  }

  /// One step of the handshake. True when it is done.
  func handshake() throws(TLSFailure) -> Bool {
    ERR_clear_error()
    let result = unsafe SSL_do_handshake(ssl)
    if result == 1 {
      try checkPin()
      return true
    }
    let error = unsafe SSL_get_error(ssl, result)
    if error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE { return false }
    throw failure(error)
  }

  private func checkPin() throws(TLSFailure) {
    guard let pinned else { return }
    guard let certificate = unsafe SSL_get1_peer_certificate(ssl) else { throw TLSFailure(reason: "no certificate") }
    guard unsafe Certificate(owning: certificate).fingerprint == pinned else {
      throw TLSFailure(reason: "the certificate is not the pinned one")
    }
  }

  /// Plain bytes from the peer; 0 when there are none yet.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSFailure) -> Int {
    if peerClosed { return 0 }
    ERR_clear_error()
    let count = unsafe SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
    if count > 0 { return Int(count) }
    let error = unsafe SSL_get_error(ssl, count)
    switch error {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
      renewIncoming()
      return 0
    case SSL_ERROR_ZERO_RETURN:
      peerClosed = true
      return 0
    default:
      throw failure(error)
    }
  }

  /// Encrypts; how many bytes were taken.
  func write(_ bytes: UnsafeRawBufferPointer) throws(TLSFailure) -> Int {
    guard bytes.count > 0 else { return 0 }
    ERR_clear_error()
    let count = unsafe SSL_write(ssl, bytes.baseAddress, Int32(min(bytes.count, 16_384)))
    if count > 0 { return Int(count) }
    let error = unsafe SSL_get_error(ssl, count)
    if error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE { return 0 }
    throw failure(error)
  }

  /// Says goodbye, so that the peer knows that nothing was cut off.
  func close() {
    guard !isFailed else { return }
    ERR_clear_error()
    _ = unsafe SSL_shutdown(ssl)
  }

  // MARK: Ciphertext for the socket

  var pending: Int { unsafe BIO_ctrl_pending(outgoing) }

  func withCiphertext(_ body: (UnsafeRawBufferPointer) -> Int) -> Int {
    var start: UnsafeMutablePointer<CChar>?
    let count = unsafe parley_BIO_get_mem_data(outgoing, &start)
    return unsafe body(UnsafeRawBufferPointer(start: start, count: max(0, count)))
  }

  /// Removes what the socket took.
  func dropCiphertext(_ count: Int) {
    unsafe parley_BIO_drop(outgoing, count)
    dropped += count
    renewOutgoing()
  }

  private func failure(_ error: Int32) -> TLSFailure {
    isFailed = true
    let code = ERR_get_error()
    guard code != 0 else { return TLSFailure(reason: "connection error \(error)") }
    guard let text = unsafe ERR_reason_error_string(code) else { return TLSFailure(reason: "error \(code)") }
    return unsafe TLSFailure(reason: String(cString: text))
  }
}
