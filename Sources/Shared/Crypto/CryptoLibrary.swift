/// The library of the system. The server's algorithms (AES-GCM, P-256, Ed25519, RSA, scrypt) exist with OpenSSL only.
#if canImport(CryptoKit)
typealias CryptoLibrary = AppleCrypto
#else
typealias CryptoLibrary = OpenSSL
#endif
