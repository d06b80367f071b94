import Testing
import Web

@Suite struct LimitsTests {
  @Test func `every limit is in the table, once`() {
    let stored = Mirror(reflecting: Limits()).children.compactMap(\.label)
    #expect(stored.count == Limits.all.count)
    #expect(Set(Limits.all.map(\.name)).count == Limits.all.count)
    // Each entry sets a different stored property.
    var changed: Set<String> = []
    for entry in Limits.all {
      var limits = Limits()
      limits[keyPath: entry.path] = -1
      let names = Mirror(reflecting: limits).children.filter { $0.value as? Int == -1 }.compactMap(\.label)
      #expect(names.count == 1)
      changed.formUnion(names)
    }
    #expect(changed == Set(stored))
  }

  @Test(arguments: Limits.all.map(\.name))
  func `a default is within its range and has a description`(_ name: String) throws {
    let entry = try #require(Limits.all.first { $0.name == name })
    #expect(entry.range.contains(entry.value))
    #expect(!entry.meaning.isEmpty)
    #expect(entry.name.utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == 0x2d })
  }

  @Test func `the limits of the head are in the table`() {
    var limits = Limits()
    limits.requestLine = 1_111
    limits.headerBytes = 2_222
    limits.headers = 33
    #expect(limits.head.line == 1_111)
    #expect(limits.head.fields == 2_222)
    #expect(limits.head.count == 33)
  }
}
