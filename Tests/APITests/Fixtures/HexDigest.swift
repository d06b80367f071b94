import ParleyCrypto

/// SHA-256 in hexadecimal; empty on failure.
func hexDigest(_ bytes: [UInt8]) -> String { (try? Digest.sha256(of: bytes)).map { Hex.text($0) } ?? "" }
