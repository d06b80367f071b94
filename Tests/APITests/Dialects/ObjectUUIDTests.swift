import ParleyModel
import Storage
import Testing

@testable import Dialects

@Suite struct ObjectUUIDTests {
  @Test(arguments: SuppliedKind.allCases, [1, 7, 812, 1 << 48 - 1, 1 << 48, 1 << 53 - 1])
  func `a derived UUID has its id`(_ kind: SuppliedKind, _ id: Int) {
    let uuid = ObjectUUID.derived(kind, id)
    #expect(ObjectUUID.isWellFormed(uuid))
    #expect(ObjectUUID.id(kind, uuid) == id)
    #expect(ObjectUUID.id(kind, uuid.uppercased()) == id)
    #expect(!ObjectUUID.maySupply(uuid.uppercased()))
    // RFC 9562 §4: the version and the variant.
    #expect(Array(uuid)[14] == "8" && Array(uuid)[19] == "8")
    for other in SuppliedKind.allCases where other != kind { #expect(ObjectUUID.id(other, uuid) == nil) }
  }

  @Test(arguments: [
    "", "7061726c-6579-8001-8000-00000000000", "7061726c-6579-8001-8000-0000000000010",
    "7061726c-6579-8001-9000-000000000001", "7061726c-6579-8001-8020-000000000001",
    "7061726c-6579-8001-80ff-ffffffffffff", "00000000-0000-4000-8000-000000000001",
    "7061726c-6579-8001-8000-00000000000g", "7061726c66579-8001-8000-000000000001",
  ])
  func `another text is none`(_ text: String) { #expect(ObjectUUID.id(.forum, text) == nil) }

  @Test func `a random UUID has the version and the variant`() {
    var seen: Set<String> = []
    for _ in 0..<1_000 {
      let uuid = ObjectUUID.random()
      #expect(ObjectUUID.isWellFormed(uuid) && ObjectUUID.maySupply(uuid))
      #expect(Array(uuid)[14] == "4" && "89ab".contains(Array(uuid)[19]))
      seen.insert(uuid)
    }
    #expect(seen.count == 1_000)
  }
}
