import Foundation
import ParleyJSON
import ParleyModel
import Synchronization
import Testing

@testable import Storage

/// Posts a number of messages, one per chunk.
private struct Planting: JSONReadable, JSONWritable, Sendable {
  var done = 0
  let count: Int

  init(count: Int) { self.count = count }

  init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    done = try object.int("done")
    count = try object.int("count")
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("done", done)
      json.field("count", count)
    }
  }

  /// - Parameter before: throws to make a chunk fail.
  static func kind(
    before: @escaping @Sendable (_ done: Int) throws(Refusal) -> Void = { _ throws(Refusal) in }
  ) -> JobKind {
    JobKind("plant") { (tx, state: inout Planting) throws(Refusal) in
      let seed = NewMessage(
        conversation: Garden.room, author: Garden.ada, clientID: "seed \(state.done)", text: "seed \(state.done)")
      // A chunk that ran twice would find its message.
      guard try tx.post(seed).isNew else { throw .conflict }
      try before(state.done)
      state.done += 1
      return state.done == state.count
    }
  }
}

@Suite struct JobTests {
  private static func plant(_ count: Int, in garden: Garden) async throws -> ID<Job> {
    try await garden.store.write { tx throws(Refusal) in
      try tx.startJob(kind: "plant", subject: 3, by: Garden.grace, state: Planting(count: count))
    }
  }

  private static func job(_ id: ID<Job>, in garden: Garden) throws -> StoredJob? {
    try garden.store.reader().read { tx throws(Refusal) in try tx.job(id) }
  }

  @Test func `a job runs to its end after the commit that started it`() async throws {
    let garden = try await Garden(jobs: [Planting.kind()])
    let id = try await Self.plant(20, in: garden)
    await garden.store.jobs.run()
    let job = try #require(try Self.job(id, in: garden))
    #expect(job.finishedAt == garden.clock.now && job.error == nil)
    #expect(job.kind == "plant" && job.subject == 3 && job.startedBy == Garden.grace)
    #expect(job.state == #"{"done":20,"count":20}"#)
    #expect(try Garden.messages(in: garden.folder).count == 20)
    #expect(try Self.job(ID(99), in: garden) == nil)
  }

  @Test func `a job of a refused write never runs`() async throws {
    let garden = try await Garden(jobs: [Planting.kind()])
    await #expect(throws: Refusal.conflict) {
      try await garden.store.write { tx throws(Refusal) in
        _ = try tx.startJob(kind: "plant", state: Planting(count: 1))
        throw .conflict
      }
    }
    await garden.store.jobs.run()
    #expect(try Garden.messages(in: garden.folder).isEmpty)
  }

  @Test func `after a close or a crash a job resumes, and no chunk runs twice`() async throws {
    let garden = try await Garden(jobs: [
      Planting.kind { done throws(Refusal) in if done == 5 { throw .unavailable } }
    ])
    let id = try await Self.plant(12, in: garden)
    await garden.store.jobs.run()
    #expect(try Self.job(id, in: garden)?.state == #"{"done":5,"count":12}"#)
    // The files after a crash: a copy while the first store has them open.
    let crashed = garden.folder + "-crashed"
    try FileManager.default.copyItem(atPath: garden.folder, toPath: crashed)
    await garden.store.close()
    for folder in [crashed, garden.folder] {
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let again = try await Garden(in: folder, jobs: [Planting.kind()])
      await again.store.jobs.run()
      #expect(try Self.job(id, in: again)?.finishedAt != nil)
      #expect(Set(try Garden.messages(in: folder).keys) == Set((0..<12).map { "seed \($0)" }))
      #expect(again.refusals == [])
      #expect(try Garden.faults(in: folder) == [])
      await again.store.close()
    }
  }

  @Test func `user writes run between two chunks`() async throws {
    let posts = Mutex<[Task<Void, any Error>]>([])
    let target = Mutex<Garden?>(nil)
    let garden = try await Garden(jobs: [
      Planting.kind { done throws(Refusal) in
        guard let garden = target.withLock({ $0 }) else { throw .unavailable }
        // Queued at once, before this chunk ends.
        let task = Task.immediate { _ = try await garden.post("hello \(done)", by: Garden.grace, as: "hello \(done)") }
        posts.withLock { $0.append(task) }
      }
    ])
    target.withLock { $0 = garden }
    let id = try await Self.plant(5, in: garden)
    await garden.store.jobs.run()
    for task in posts.withLock({ $0 }) { try await task.value }
    #expect(try Self.job(id, in: garden)?.finishedAt != nil)
    let order = try Garden.messages(in: garden.folder).sorted { $0.value < $1.value }.map(\.key)
    #expect(order == (0..<5).flatMap { ["seed \($0)", "hello \($0)"] })
    await garden.store.close()
    target.withLock { $0 = nil }
  }

  @Test func `a failed chunk is retried later without blocking other jobs`() async throws {
    let isFailing = Mutex(true)
    let garden = try await Garden(jobs: [
      Planting.kind { done throws(Refusal) in
        if done == 1, isFailing.withLock({ $0 }) { throw .unavailable }
      },
      JobKind("wait") { (_, state: inout Int) throws(Refusal) in
        state += 1
        return state == 3
      },
    ])
    let id = try await Self.plant(3, in: garden)
    let other = try await garden.store.write { tx throws(Refusal) in try tx.startJob(kind: "wait", state: 0) }
    await garden.store.jobs.run()
    #expect(try Self.job(id, in: garden)?.state == #"{"done":1,"count":3}"#)
    #expect(try Self.job(other, in: garden)?.finishedAt != nil)
    isFailing.withLock { $0 = false }
    await garden.store.jobs.run()
    #expect(try Self.job(id, in: garden)?.finishedAt == nil, "it is too early")
    garden.clock.pass(seconds: JobRunner.firstRetry / 1_000)
    await garden.store.jobs.run()
    #expect(try Self.job(id, in: garden)?.finishedAt == garden.clock.now)
    #expect(try Garden.messages(in: garden.folder).count == 3)
  }

  @Test func `a refused chunk ends the job with its reason`() async throws {
    let garden = try await Garden(jobs: [Planting.kind { done throws(Refusal) in if done == 2 { throw .gone } }])
    let id = try await Self.plant(4, in: garden)
    await garden.store.jobs.run()
    let job = try #require(try Self.job(id, in: garden))
    #expect(job.error == "gone" && job.finishedAt != nil && job.state == #"{"done":2,"count":4}"#)
    #expect(try Garden.messages(in: garden.folder).count == 2, "the chunk that was refused left nothing")
    #expect(garden.refusals == ["The job \(id) (plant) ended: gone"])
  }

  @Test func `a job of an unknown kind waits and is logged once`() async throws {
    let garden = try await Garden()
    let id = try await Self.plant(2, in: garden)
    await garden.store.jobs.run()
    await garden.store.jobs.run()
    #expect(try Self.job(id, in: garden)?.finishedAt == nil)
    #expect(garden.refusals.count == 1)
    await garden.store.close()
    let again = try await Garden(in: garden.folder, jobs: [Planting.kind()])
    await again.store.jobs.run()
    #expect(try Self.job(id, in: again)?.finishedAt != nil)
  }
}
