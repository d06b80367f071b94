import Foundation
import ParleyModel
import Testing

@testable import API
@testable import Community

/// State equals replay: a replica with the readable events applied equals fresh answers of the server. Serialized,
/// because many sites at once would delay tests that wait for a socket.
@Suite(.serialized) struct ReplayTests {
  @Test(arguments: ReplayCase.all)
  func `a replica equals fresh answers of the server`(_ one: ReplayCase) async throws {
    try await Village.open(.inMemory) { village in
      let stage = try await Stage(village)
      try await one.before(stage)
      var clients = try await stage.clients()
      try await one.change(stage)
      for index in clients.indices where clients[index].name.map({ !village.token($0).isEmpty }) ?? true {
        try await clients[index].synchronize()
        let faults = try await clients[index].faults()
        #expect(faults.isEmpty, "\(one.testDescription), \(clients[index].name ?? "nobody"): \(faults.prefix(6))")
      }
    }
  }

  @Test func `every endpoint that changes state has a case`() {
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
