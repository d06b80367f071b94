import COpenSSL

/// SHA-1, for the WebSocket handshake alone (RFC 6455 §4.2.2): there it proves that the peer speaks the protocol, and
/// keeps nothing secret.
public enum SHA1 {
  public static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    let isHashed = unsafe EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha1(), nil)
    precondition(isHashed == 1, "this OpenSSL has no SHA-1")
    return digest
  }
}
