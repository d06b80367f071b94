import CParleyOpenSSL

/// The TLS settings. Each loop creates its own `TLSContext` from this value.
public struct TLSConfiguration: Sendable {
  public enum Role: Sendable {
    case server(Identity)
    case client(Trust)
  }

  /// Certificate chain and private key, PEM.
  public struct Identity: Sendable {
    public var certificates: [UInt8]
    public var key: [UInt8]
    /// Keys of the session tickets. The same on every loop, so that a client can resume on any.
    public var ticketKeys: [UInt8]

    public init(certificates: [UInt8], key: [UInt8], ticketKeys: [UInt8]) {
      self.certificates = certificates
      self.key = key
      self.ticketKeys = ticketKeys
    }

    /// The size of OpenSSL's ticket keys in bytes.
    public static let ticketKeyLength = 80
  }

  /// The servers that a client trusts.
  public enum Trust: Sendable {
    /// Certificates with the server's name that chain to a system root.
    case system
    /// Certificates with the server's name that chain to one of these roots (PEM).
    case roots([UInt8])
    /// The certificate with this SHA-256, regardless of name and validity.
    case fingerprint([UInt8])
  }

  public var role: Role
  /// Protocols for ALPN, preferred first.
  public var protocols: [String]

  public init(role: Role, protocols: [String] = ["http/1.1"]) {
    self.role = role
    self.protocols = protocols
  }
}

/// An OpenSSL context, confined to one loop.
@safe public final class TLSContext {
  private let context: OpaquePointer
  private let isServer: Bool
  private let pinned: [UInt8]?

  /// TLS 1.2 suites with forward secrecy and authenticated encryption. All TLS 1.3 suites have both.
  private static let suites = "ECDHE+AESGCM:ECDHE+CHACHA20"

  public init(_ configuration: TLSConfiguration) throws(StreamError) {
    ERR_clear_error()
    switch configuration.role {
    case .server: isServer = true
    case .client: isServer = false
    }
    guard let context = unsafe SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
      throw Self.failure("creating a context")
    }
    unsafe self.context = context
    if case .client(.fingerprint(let digest)) = configuration.role { pinned = digest } else { pinned = nil }

    unsafe parley_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
    guard unsafe SSL_CTX_set_cipher_list(context, Self.suites) == 1 else { throw Self.failure("cipher suites") }
    unsafe parley_SSL_CTX_configure(context)

    switch configuration.role {
    case .server(let identity):
      try unsafe Self.use(identity, in: context)
      try unsafe Self.setProtocolChoice(configuration.protocols, in: context)
    case .client(let trust):
      switch trust {
      case .system:
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        guard unsafe SSL_CTX_set_default_verify_paths(context) == 1 else { throw Self.failure("system roots") }
      case .roots(let pem):
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        for root in Certificate.list(fromPEM: pem) {
          guard unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(context), root.pointer) == 1 else {
            throw Self.failure("roots")
          }
        }
      case .fingerprint:
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
      }
      let list = Self.wireForm(configuration.protocols)
      guard unsafe SSL_CTX_set_alpn_protos(context, list, UInt32(list.count)) == 0 else { throw Self.failure("ALPN") }
    }
  }

  deinit { unsafe SSL_CTX_free(context) }

  /// Creates a session. A client without a pin must give the server's name: otherwise any trusted certificate would
  /// match.
  func session(serverName: String? = nil) throws(StreamError) -> TLSSession {
    guard isServer || pinned != nil || serverName != nil else { throw .tls("the server name is missing") }
    guard
      let session = unsafe TLSSession(context: context, isServer: isServer, serverName: serverName, pinned: pinned)
    else { throw Self.failure("creating a session") }
    return session
  }

  private static func use(_ identity: TLSConfiguration.Identity, in context: OpaquePointer) throws(StreamError) {
    let certificates = Certificate.list(fromPEM: identity.certificates)
    guard let leaf = certificates.first else { throw .tls("the certificate file contains no certificate") }
    guard unsafe SSL_CTX_use_certificate(context, leaf.pointer) == 1 else { throw failure("certificate") }
    for issuer in certificates.dropFirst() {
      guard unsafe parley_SSL_CTX_add1_chain_cert(context, issuer.pointer) == 1 else {
        throw failure("certificate chain")
      }
    }
    guard let key = unsafe readKey(identity.key) else {
      throw .tls("the key file contains no readable private key")
    }
    defer { unsafe EVP_PKEY_free(key) }
    guard unsafe SSL_CTX_use_PrivateKey(context, key) == 1, unsafe SSL_CTX_check_private_key(context) == 1 else {
      throw .tls("the private key does not match the certificate")
    }
    var tickets = identity.ticketKeys
    guard unsafe parley_SSL_CTX_set_ticket_keys(context, &tickets, Int32(tickets.count)) == 1 else {
      throw failure("session ticket keys")
    }
  }

  private static func readKey(_ pem: [UInt8]) -> OpaquePointer? {
    guard let bio = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return nil }
    defer { unsafe BIO_free(bio) }
    // An empty passphrase, because OpenSSL's default prompts on the terminal.
    return unsafe parley_PEM_read_key(bio)
  }

  private static func wireForm(_ protocols: [String]) -> [UInt8] {
    protocols.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
  }

  /// Selects http/1.1 by ALPN. Rejects a client that offers only other protocols.
  private static func setProtocolChoice(_ protocols: [String], in context: OpaquePointer) throws(StreamError) {
    guard protocols == ["http/1.1"] else { throw .tls("http/1.1 is the only supported protocol") }
    unsafe SSL_CTX_set_alpn_select_cb(
      context,
      { _, out, outLength, offered, offeredLength, _ in
        var index = 0
        let supported: StaticString = "http/1.1"
        while index < Int(offeredLength), let list = unsafe offered {
          let length = unsafe Int(list[index])
          guard index + 1 + length <= Int(offeredLength) else { break }
          if length == supported.utf8CodeUnitCount,
            unsafe memcmp(list + index + 1, supported.utf8Start, length) == 0
          {
            unsafe out?.pointee = list + index + 1
            unsafe outLength?.pointee = UInt8(length)
            return SSL_TLSEXT_ERR_OK
          }
          index += 1 + length
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
      }, nil)
  }

  static func failure(_ operation: String) -> StreamError {
    let code = ERR_get_error()
    guard code != 0, let text = unsafe ERR_reason_error_string(code) else { return .tls(operation) }
    return unsafe .tls("\(operation): \(String(cString: text))")
  }
}
