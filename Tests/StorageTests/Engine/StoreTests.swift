import Foundation
import ParleyModel
import Testing

@testable import Storage

@Suite struct StoreTests {
  @Test func `each message references the previous one`() async throws {
    let garden = try await Garden()
    let first = try await garden.post("seeds")
    let second = try await garden.post("weeds", by: Garden.grace)
    #expect(first.seq == 1 && first.previous == nil)
    #expect(second.seq == 2 && second.previous == first.id)
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `concurrent writers make one complete chain, and every response is right`() async throws {
    let garden = try await Garden()
    let answers = try await withThrowingTaskGroup(of: [StoredMessage].self) { group in
      for writer in 0..<32 {
        group.addTask {
          var mine: [StoredMessage] = []
          for number in 0..<50 { mine.append(try await garden.post("message", as: "\(writer)-\(number)")) }
          return mine
        }
      }
      return try await group.reduce(into: [StoredMessage]()) { $0 += $1 }
    }
    #expect(Set(answers.map(\.seq)) == Set(1...1_600))
    #expect(Set(answers.map(\.id)).count == 1_600)
    #expect(try Garden.faults(in: garden.folder) == [])
    let kept = try Garden.messages(in: garden.folder)
    #expect(Set(kept.values) == Set(answers.map(\.id.number)))
  }

  @Test func `committed events are delivered in log order`() async throws {
    let garden = try await Garden()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 { group.addTask { _ = try await garden.post("message \(number)") } }
      try await group.waitForAll()
    }
    #expect(garden.delivered.all.map(\.id) == Array(1...200))
    #expect(garden.delivered.all.map(\.offset) == Array(1...200))
    #expect(garden.delivered.all.allSatisfy { $0.stream == .conversation(Garden.room) && $0.kind == .messageCreated })
  }

  @Test func `a refused rule rolls back only its own changes`() async throws {
    let garden = try await Garden()
    let answers = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<100 {
        group.addTask {
          let message = NewMessage(conversation: Garden.room, author: Garden.ada, text: "message \(number)")
          do throws(Refusal) {
            return try await garden.store.write { tx throws(Refusal) in
              _ = try tx.post(message)
              guard number.isMultiple(of: 2) else { throw .conflict }
              return true
            }
          } catch {
            return error != .conflict
          }
        }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(answers == 50)
    #expect(garden.delivered.all.map(\.id) == Array(1...50))
    #expect(try Garden.faults(in: garden.folder) == [])
  }

  @Test func `a repeated send finds its message`() async throws {
    let garden = try await Garden()
    let first = try await garden.post("seeds", as: "one")
    let again = try await garden.post("seeds", as: "one")
    #expect(again.id == first.id && first.isNew && !again.isNew)
    await #expect(throws: Refusal.clientIDReused) { try await garden.post("weeds", as: "one") }
    #expect(try await garden.post("weeds", by: Garden.grace, as: "one").isNew)
    #expect(garden.delivered.all.count == 2)
  }

  @Test func `a hundred concurrent repeats create one message`() async throws {
    let garden = try await Garden()
    let ids = try await withThrowingTaskGroup(of: StoredMessage.self) { group in
      for _ in 0..<100 { group.addTask { try await garden.post("seeds", as: "one") } }
      return try await group.reduce(into: [StoredMessage]()) { $0.append($1) }
    }
    #expect(Set(ids.map(\.id)).count == 1)
    #expect(ids.filter(\.isNew).count == 1)
  }

  @Test func `a missing conversation is not found`() async throws {
    let garden = try await Garden()
    let message = NewMessage(conversation: ID(99), author: Garden.ada, text: "seeds")
    await #expect(throws: Refusal.notFound) {
      try await garden.store.write { tx throws(Refusal) in try tx.post(message) }
    }
  }

  @Test func `ids continue after a restart without repetition`() async throws {
    let garden = try await Garden()
    let before = try await garden.post("seeds")
    await garden.store.close()
    let moved = try Scratch()
    let path = moved.path + "/garden"
    try FileManager.default.copyItem(atPath: garden.folder, toPath: path)
    let again = try await Garden(in: path)
    let after = try await again.post("weeds")
    #expect(after.id > before.id && after.seq == 2 && after.previous == before.id)
    #expect(again.delivered.all.map(\.id) == [2])
  }

  @Test func `a second daemon can't open the folder`() async throws {
    let garden = try await Garden()
    let fault = #expect(throws: DataFolder.Fault.self) { try DataFolder(garden.folder) }
    #expect(fault?.description.contains("Another parley") == true)
  }

  @Test func `a closed store refuses writes`() async throws {
    let garden = try await Garden()
    await garden.store.close()
    await #expect(throws: Refusal.unavailable) { try await garden.post("late") }
  }
}
