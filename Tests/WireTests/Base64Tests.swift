import TestSupport
import Testing

@testable import ParleyWire

struct Base64Tests {
  static let pairs: [(plain: String, standard: String, url: String)] = [
    ("", "", ""), ("f", "Zg==", "Zg"), ("fo", "Zm8=", "Zm8"), ("foo", "Zm9v", "Zm9v"), ("foob", "Zm9vYg==", "Zm9vYg"),
    ("fooba", "Zm9vYmE=", "Zm9vYmE"), ("foobar", "Zm9vYmFy", "Zm9vYmFy"), ("~~~???", "fn5+Pz8/", "fn5-Pz8_"),
  ]

  @Test(arguments: pairs) func `the examples of RFC 4648 round-trip`(plain: String, standard: String, url: String) {
    let bytes = Array(plain.utf8)
    #expect(Base64.encode(bytes) == standard)
    #expect(Base64.encode(bytes, .url) == url)
    #expect(Base64.decode(standard) == bytes)
    #expect(Base64.decode(url, .url) == bytes)
  }

  @Test(arguments: [
    "Z", "Zg", "Zg=", "Zg===", "=", "==", "====", "Z===", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", " Zm9v", "Zm9v=", "Zm=v",
    "fn5-Pz8_", "Zm9vé===", "Zm9v====",
  ]) func `text other than the standard form is refused`(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test(arguments: ["Z", "Zg==", "Zh", "Zm9", "fn5+Pz8/", "Zm9v=", "Zm9v "])
  func `text other than the URL form is refused`(text: String) {
    #expect(Base64.decode(text, .url) == nil)
  }

  @Test func `all bytes round-trip`() {
    var random = Seeded(seed: 64)
    for length in 0..<200 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(Base64.decode(Base64.encode(bytes)) == bytes)
      #expect(Base64.decode(Base64.encode(bytes, .url), .url) == bytes)
    }
  }
}
