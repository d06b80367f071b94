import Foundation
import ParleyJSON
import ParleyModel
import Synchronization
import TestSupport
import Testing

@testable import ParleyKit

private let sources = Checkout.root.appending(path: "Sources/Kit/ParleyKit")

/// The calls of a file that an app waits for, by their names.
private func calls(in path: String) throws -> Set<String> {
  let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
  let isActor = text.contains("public actor ") || path == "Cache/Lookups.swift"
  let call = try Regex(#"\n  (?:@discardableResult\n  )?public (?:nonisolated )?func (\w+)(?:<[^>]*>)?(\([^{]*)\{"#)
  return Set(
    text.matches(of: call).compactMap { match in
      guard let name = match.output[1].substring, let rest = match.output[2].substring else { return nil }
      let isStream = rest.contains("AsyncStream<") || rest.contains("Pages<") || rest.contains("Task<")
      return !isStream && (isActor || rest.contains("async")) ? String(name) : nil
    })
}

@Suite struct CompletionsTests {
  @Test func `each call has a form for code that does not wait`() throws {
    let text = try String(contentsOf: sources.appending(path: "Asking/Completions.swift"), encoding: .utf8)
    var forms: [String: Set<String>] = [:]
    for part in text.components(separatedBy: "\nextension ").dropFirst() {
      let type = String(part.prefix { $0 != " " })
      let all = part.components(separatedBy: "func ").dropFirst()
      forms[type] = Set(
        all.filter { $0.contains("then: @escaping Completion<") }.map { form in String(form.prefix { $0 != "(" }) })
    }
    let files = [
      "Client": ["Client/Transfers.swift"], "OwnSession": ["Client/OwnSession.swift"],
      "Parley": ["Parley.swift", "Asking/MessagePayload.swift"], "Sync": ["Sync/Sync.swift"],
      "Outbox": ["Outbox/Outbox.swift", "Outbox/Sending.swift", "Outbox/Creating.swift", "Outbox/Orphans.swift"],
      "MessageWindow": ["Window/MessageWindow.swift"], "Cache": ["Cache/Lookups.swift"],
    ]
    for (type, paths) in files {
      let all = try Set(paths.flatMap(calls))
      #expect(all.count > 2, "\(type)")
      #expect(all.subtracting(forms[type] ?? []).sorted() == [], "\(type)")
    }
    #expect(forms.keys.sorted() == files.keys.sorted())
  }

  /// What a call tells its closure.
  private func told<Value: Sendable>(_ call: (@escaping Completion<Value>) -> Task<Void, Never>) async throws -> Value {
    let result = Mutex<Result<Value, any Error>?>(nil)
    await call { answer in result.withLock { $0 = answer } }.value
    return try #require(result.withLock { $0 }).get()
  }

  @Test func `a closure is told what who waits would hear`() async throws {
    try await Hamlet.open { hamlet in
      let garden = try await hamlet.group("ada", "grace")
      let ada = try HamletClient(hamlet, "ada")
      try await told { ada.sync.catchUp(then: $0) }
      let operation = try await told { ada.outbox.send(Draft("hello #food"), in: garden, then: $0) }
      #expect(try await told { ada.outbox.list(.send, then: $0) } == [operation])
      #expect(try await told { ada.cache.find([.hashtag("food")], then: $0) }.messages.map(\.text) == ["hello #food"])
      #expect(try await told { ada.outbox.sendAll(then: $0) } == nil)
      let window = MessageWindow(garden, ada.cache, ada.sync)
      #expect(try await told { window.newest(then: $0) }.messages.map(\.text) == ["hello #food"])
      await #expect(throws: OutboxRefusal.unknownOperation) { try await told { ada.outbox.retry("none", then: $0) } }
      await #expect(throws: SyncRefusal.unknownConversation) {
        _ = try await told { ada.sync.fetchNewest(in: ID(5), then: $0) }
      }
    }
  }

  @Test func `a closure hears what is held, and then what is fresh`() async throws {
    let heard = Mutex<[String]>([])
    let (shown, show) = AsyncStream.makeStream(of: Void.self)
    let answers = CachedThenFresh(
      cached: { "held" },
      fresh: {
        for await _ in shown { break }
        return "new"
      })
    await answers.fresh { value in
      heard.withLock { $0.append(value) }
      show.yield()
    } then: { result in
      heard.withLock { $0.append((try? result.get()) ?? "nothing") }
    }.value
    #expect(heard.withLock { $0 } == ["held", "new"])
    #expect(try await CachedThenFresh(cached: { "held" }, fresh: { "new" }).fresh() == "new")
  }
}
