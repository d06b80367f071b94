import CParleyOpenSSL

/// What TLS needs to know, as a value that goes to every loop. Each loop makes its own context of it.
public struct TLSConfiguration: Sendable {
  public enum Role: Sendable {
    case server(Identity)
    case client(Trust)
  }

  /// Certificate chain and key as PEM texts.
  public struct Identity: Sendable {
    public var certificates: [UInt8]
    public var key: [UInt8]
    /// Encrypts session tickets; the same on every loop, so that a client may resume on any.
    public var ticketKeys: [UInt8]

    public init(certificates: [UInt8], key: [UInt8], ticketKeys: [UInt8]) {
      self.certificates = certificates
      self.key = key
      self.ticketKeys = ticketKeys
    }

    /// How many bytes OpenSSL's ticket keys have.
    public static let ticketKeyLength = 80
  }

  /// Which servers a client believes.
  public enum Trust: Sendable {
    /// Those whose certificate chains to the system's roots and bears the right name.
    case system
    /// The same with these roots, as a PEM text, instead of the system's.
    case roots([UInt8])
    /// The one whose certificate has this SHA-256, whatever else it says.
    case fingerprint([UInt8])
  }

  public var role: Role
  /// The protocols for ALPN, best first.
  public var protocols: [String]

  public init(role: Role, protocols: [String] = ["http/1.1"]) {
    self.role = role
    self.protocols = protocols
  }
}

/// An OpenSSL context. It stays on the loop that made it.
@safe public final class TLSContext {
  private let context: OpaquePointer
  private let isServer: Bool
  private let pinned: [UInt8]?

  /// TLS 1.2 only with forward secrecy and authenticated encryption; TLS 1.3 has nothing else.
  private static let suites = "ECDHE+AESGCM:ECDHE+CHACHA20"

  public init(_ configuration: TLSConfiguration) throws(StreamError) {
    ERR_clear_error()
    switch configuration.role {
    case .server: isServer = true
    case .client: isServer = false
    }
    guard let context = unsafe SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
      throw Self.failure("no context")
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

  /// A client that trusts the system's roots must say whom it means: any certificate of theirs would do otherwise.
  func session(serverName: String? = nil) throws(StreamError) -> TLSSession {
    guard isServer || pinned != nil || serverName != nil else { throw .tls("the server's name is needed") }
    guard
      let session = unsafe TLSSession(context: context, isServer: isServer, serverName: serverName, pinned: pinned)
    else { throw Self.failure("no session") }
    return session
  }

  private static func use(_ identity: TLSConfiguration.Identity, in context: OpaquePointer) throws(StreamError) {
    let certificates = Certificate.list(fromPEM: identity.certificates)
    guard let leaf = certificates.first else { throw .tls("the certificate file holds no certificate") }
    guard unsafe SSL_CTX_use_certificate(context, leaf.pointer) == 1 else { throw failure("certificate") }
    for issuer in certificates.dropFirst() {
      guard unsafe parley_SSL_CTX_add1_chain_cert(context, issuer.pointer) == 1 else {
        throw failure("certificate chain")
      }
    }
    guard let key = unsafe readKey(identity.key) else {
      throw .tls("the key file holds no private key that can be read")
    }
    defer { unsafe EVP_PKEY_free(key) }
    guard unsafe SSL_CTX_use_PrivateKey(context, key) == 1, unsafe SSL_CTX_check_private_key(context) == 1 else {
      throw .tls("the private key does not belong to the certificate")
    }
    var tickets = identity.ticketKeys
    guard unsafe parley_SSL_CTX_set_ticket_keys(context, &tickets, Int32(tickets.count)) == 1 else {
      throw failure("session ticket keys")
    }
  }

  private static func readKey(_ pem: [UInt8]) -> OpaquePointer? {
    guard let bio = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return nil }
    defer { unsafe BIO_free(bio) }
    // An empty passphrase instead of the default, which would ask on the terminal.
    return unsafe parley_PEM_read_key(bio)
  }

  private static func wireForm(_ protocols: [String]) -> [UInt8] {
    protocols.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
  }

  /// A server's answer to ALPN: the only protocol there is, or none; a client that offers only others is refused.
  private static func setProtocolChoice(_ protocols: [String], in context: OpaquePointer) throws(StreamError) {
    guard protocols == ["http/1.1"] else { throw .tls("only http/1.1 is offered") }
    unsafe SSL_CTX_set_alpn_select_cb(
      context,
      { _, out, outLength, offered, offeredLength, _ in
        var place = 0
        let wanted: StaticString = "http/1.1"
        while place < Int(offeredLength), let list = unsafe offered {
          let length = unsafe Int(list[place])
          guard place + 1 + length <= Int(offeredLength) else { break }
          if length == wanted.utf8CodeUnitCount,
            unsafe memcmp(list + place + 1, wanted.utf8Start, length) == 0
          {
            unsafe out?.pointee = list + place + 1
            unsafe outLength?.pointee = UInt8(length)
            return SSL_TLSEXT_ERR_OK
          }
          place += 1 + length
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
      }, nil)
  }

  static func failure(_ what: String) -> StreamError {
    let code = ERR_get_error()
    guard code != 0, let text = unsafe ERR_reason_error_string(code) else { return .tls(what) }
    return unsafe .tls("\(what): \(String(cString: text))")
  }
}
