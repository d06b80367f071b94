import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community

/// State equals replay: what somebody held before a change, with the events of it applied that they may see, is what they
/// would be answered after. One at a time, or all these places would hold up those who wait for a socket.
@Suite(.serialized) struct ReplayTests {
  @Test(arguments: ReplayCase.all)
  func `who follows along holds what they would be answered`(_ one: ReplayCase) async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await Stage(village)
      try await one.before(stage)
      var followers = try await stage.followers()
      try await one.change(stage)
      for place in followers.indices where followers[place].name.map({ !village.token($0).isEmpty }) ?? true {
        try await followers[place].follow()
        let faults = try await followers[place].faults()
        #expect(faults.isEmpty, "\(one.testDescription), \(followers[place].name ?? "nobody"): \(faults.prefix(6))")
      }
    }
  }

  @Test func `every endpoint that changes something is among them`() {
    let changing = API.endpoints.filter { !$0.method.isSafe }.map { "\($0.method.name.lowercased()) \($0.path)" }
    let cases = Set(ReplayCase.all.map(\.route))
    let notWalked = Set(ReplayCase.notWalked.keys)
    let missing = Set(changing).subtracting(cases).subtracting(notWalked)
    #expect(missing.isEmpty, "without a case: \(missing.sorted())")
    let unknown = cases.union(notWalked).subtracting(changing)
    #expect(unknown.isEmpty, "no endpoint: \(unknown.sorted())")
    #expect(cases.isDisjoint(with: notWalked), "walked after all: \(cases.intersection(notWalked).sorted())")
  }
}
