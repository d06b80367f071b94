import ParleyKit
import ParleyModel
import Testing

@testable import Samples

@Suite struct SampleTests {
  @Test func `a list created without a network syncs to another device`() async throws {
    try await Daemon.run { daemon in
      let network = try CuttableTransport()
      let phone = try await daemon.device(network)
      let list = try await Todo(phone)
      network.cut()
      let milk = try await list.add("buy milk")
      _ = try await list.add("water the garden")
      try await list.setUrgent(milk)
      #expect(
        try await list.entries == [
          Todo.Entry(title: "buy milk", isUrgent: true, isWaiting: true),
          Todo.Entry(title: "water the garden", isUrgent: false, isWaiting: true),
        ])
      #expect(try await list.urgentTitles == ["buy milk"])
      #expect(try await phone.outbox.sendAll()?.isTemporary == true)
      network.restore()
      #expect(try await phone.outbox.sendAll() == nil)

      let laptop = try await daemon.device()
      let other = try await Todo(laptop)
      #expect(other.channel == list.channel)
      try await other.fetchEverything()
      #expect(try await other.entries.map(\.title) == ["buy milk", "water the garden"])
      #expect(try await other.urgentTitles == ["buy milk"])
      let found = try #require(try await other.find("milk"))
      try await other.setUrgent(found, false)
      try await other.finish(try #require(try await other.find("garden")))
      #expect(try await laptop.outbox.sendAll() == nil)
      try await list.fetchEverything()
      #expect(
        try await list.entries == [Todo.Entry(title: "buy milk", isUrgent: false, isWaiting: false)])
    }
  }

  @Test func `a journal is searchable by day, hashtag, location and words`() async throws {
    try await Daemon.run { daemon in
      let phone = try await daemon.device(nil, Journal.indexing)
      let journal = try await Journal(phone)
      let cafe = Location(name: "Café Einstein", latitude: 52.4996, longitude: 13.3597)
      try await journal.write("It rained. #weather", about: "2026-11-20")
      try await journal.write("Long ago we met here #memories", about: "2001-05-01", at: cafe)
      try await journal.write("Cake! #memories", about: "2026-11-21", at: cafe)
      // An entry is found at once, and unchanged after sending.
      for isSent in [false, true] {
        if isSent {
          #expect(try await phone.outbox.sendAll() == nil)
          try await phone.sync.catchUp()
        }
        #expect(
          try await journal.entries() == ["Cake! #memories", "It rained. #weather", "Long ago we met here #memories"])
        #expect(try await journal.entries(before: "2026-01-01") == ["Long ago we met here #memories"])
        #expect(try await journal.tagged("memories") == ["Cake! #memories", "Long ago we met here #memories"])
        let across = Location(name: "café einstein", latitude: 52.4999, longitude: 13.3601)
        #expect(try await journal.written(near: across) == ["Cake! #memories", "Long ago we met here #memories"])
        #expect(try await journal.search("rain*") == ["It rained. #weather"])
      }
    }
  }
}
