// Signatures of texts that clients keep and send back: links to files, device cookies, challenges of sign-ins.

import ParleyCrypto
import ParleyModel

/// HMAC-SHA256 of a purpose and a claim, in hexadecimal digits. A signature is of no use for another purpose.
enum TextSignature {
  static func make(_ purpose: String, _ claim: String, key: [UInt8]) throws(Refusal) -> String {
    do { return Hex.text(try HMAC.sha256(of: Array("\(purpose) \(claim)".utf8), key: key)) } catch {
      throw .unavailable
    }
  }

  static func isRight(_ given: String, _ purpose: String, _ claim: String, key: [UInt8]) throws(Refusal) -> Bool {
    ConstantTime.isEqual(Array(given.utf8), Array(try make(purpose, claim, key: key).utf8))
  }
}
