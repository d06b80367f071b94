import Testing

@testable import Community

@Suite struct CommonPasswordTests {
  @Test(arguments: ["password", "12345678", "qwertyuiop", "iloveyou", "PassWord", "trustno1"])
  func `a common password is found in any case`(password: String) {
    #expect(CommonPasswords.contains(password))
  }

  @Test(arguments: ["", "pass", "wool and needles", "correct horse battery", "p\u{e4}ssword"])
  func `another password is not found`(password: String) {
    #expect(!CommonPasswords.contains(password))
  }

  @Test func `the list has 10,000 sorted digests`() {
    let digests = CommonPasswords.digests.split(separator: " ", omittingEmptySubsequences: true)
    #expect(digests.count == 10_000 && zip(digests, digests.dropFirst()).allSatisfy { $0 < $1 })
    #expect(digests.allSatisfy { $0.utf8.count == 8 } && CommonPasswords.digests.utf8.count == 90_000)
  }
}
