import ParleyCrypto

/// SHA-256 as it stands in answers and in names; nothing where it can't be made.
func sum(_ bytes: [UInt8]) -> String { (try? Digest.sha256(of: bytes)).map { Hex.text($0) } ?? "" }
