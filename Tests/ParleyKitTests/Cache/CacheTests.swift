import Foundation
import ParleyJSON
import ParleyModel
import ParleySQLite
import Synchronization
import Testing

@testable import ParleyKit

@Suite struct CacheTests {
  @Test func `the cache persists across app starts`() async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let garden = try await site.group("ada", "grace")
      var before = Replica()
      do {
        let ada = try SiteClient(site, "ada", file: file)
        try await ada.sync.catchUp()
        try await site.post("first #food", as: "grace", in: garden)
        try await site.post("second", as: "grace", in: garden)
        try await ada.sync.catchUp()
        before = await ada.cache.replica
        #expect(before.conversations[garden]?.unread == 2)
      }
      let again = try SiteClient(site, "ada", file: file)
      let after = await again.cache.replica
      #expect(after == before)
      #expect(try await again.texts(garden) == ["first #food", "second"])
      // Sync continues.
      try await site.post("third", as: "grace", in: garden)
      try await again.sync.catchUp()
      #expect(try await again.texts(garden) == ["first #food", "second", "third"])
      #expect(again.server.requests.contains("GET /snapshot") == false)
    }
  }

  @Test func `a late response does not undo an event`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada")
      try await ada.sync.catchUp()
      let message = try await site.post("before", as: "grace", in: garden)
      let late = try await ada.client.send(.getMessage(message.id)).value
      let asOf = try #require(await ada.cache.replica.cursor?.event)
      _ = try await site.client("grace").send(.editMessage(message.id, text: "after"))
      try await ada.sync.catchUp()
      try await ada.cache.merge([late], asOf: asOf)
      #expect(try await ada.texts(garden) == ["after"])
      // A deleted message stays deleted.
      _ = try await site.client("grace").send(.deleteMessage(message.id))
      try await ada.sync.catchUp()
      try await ada.cache.merge([late], asOf: asOf)
      #expect(try await ada.texts(garden) == ["†"])
    }
  }

  @Test(arguments: [false, true]) func `erasing deletes everything`(isOnDisk: Bool) async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let garden = try await site.group("ada", "grace")
      let ada = try SiteClient(site, "ada", file: isOnDisk ? file : nil)
      try await ada.sync.catchUp()
      try await site.post("xylophonesecret", as: "grace", in: garden)
      try await ada.sync.catchUp()
      try await ada.cache.setDraft(Draft("draftsecret"), in: garden)
      #expect(try await ada.cache.search("xylophonesecret").messages.count == 1)
      try await ada.cache.erase()
      #expect(await ada.cache.replica == Replica())
      #expect(await ada.cache.draft(in: garden) == nil)
      #expect(try await ada.texts(garden).isEmpty)
      guard isOnDisk else { return }
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        let bytes = try #require(FileManager.default.contents(atPath: "\(folder.path)/\(name)"))
        for secret in ["xylophonesecret", "draftsecret"] {
          #expect(bytes.firstRange(of: Data(secret.utf8)) == nil, "\(secret) is still in \(name)")
        }
      }
    }
  }

  @Test(arguments: LocationPrecision.allCases) func `locations on both sides of an edge are found`(
    precision: LocationPrecision
  ) {
    var random = SystemRandomNumberGenerator()
    let unit = [LocationPrecision.town: 0.1, .quarter: 0.01, .block: 0.001][precision]!
    func wrapped(_ longitude: Double) -> Double {
      longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
    }
    for round in 0..<2_000 {
      let latitude = Double.random(in: -89...89, using: &random)
      // Every tenth at the meridian where the longitudes wrap.
      let longitude = round % 10 == 0 ? 180 - unit / 8 : Double.random(in: -180...180, using: &random)
      let query = MessageFeature.location(Location(name: "Café", latitude: latitude, longitude: longitude), precision)
      func finds(north: Double, east: Double, name: String = "café") -> Bool {
        let location = Location(name: name, latitude: latitude + north, longitude: wrapped(longitude + east))
        return query.alternatives.contains(MessageFeature.location(location, precision).token)
      }
      let near = (-0.499 * unit)...(0.499 * unit)
      let (north, east) = (Double.random(in: near, using: &random), Double.random(in: near, using: &random))
      #expect(finds(north: north, east: east), "\(latitude) \(longitude), \(north) \(east)")
      #expect(!finds(north: north, east: east, name: "bar"))
      #expect(!finds(north: 1.01 * unit, east: east) && !finds(north: north, east: -1.01 * unit))
    }
  }

  @Test(arguments: [false, true]) func `messages are found by their attributes`(isOnDisk: Bool) async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let garden = try await site.group("ada", "grace")
      let other = try await site.group("ada", "linus")
      var indexing = MessageIndexing()
      indexing.displayDate = MessageIndexing.date(inAnnotation: "net.app.ohai.displaydate")
      indexing.annotationTypes = ["com.example.todo"]
      let ada = try SiteClient(site, "ada", file: isOnDisk ? folder.path + "/cache.db" : nil, indexing)
      try await ada.sync.catchUp()
      let sanFrancisco = Draft.Annotation.location("McDonald's", latitude: 37.7793, longitude: -122.4192)
      let nextDoor = Draft.Annotation.location("McDonald's", latitude: 37.7841, longitude: -122.4192)
      let chicago = Draft.Annotation.location("McDonald's", latitude: 41.8781, longitude: -87.6298)
      let todo = Draft.Annotation("com.example.todo") { json in json.field("done", false) }
      let ancient = Draft.Annotation("net.app.ohai.displaydate") { json in
        json.field("date", "1999-12-31T23:59:59.000Z")
      }
      try await site.post("lunch #Food with @ada", as: "grace", in: garden, [sanFrancisco])
      try await site.post("dinner 日本語", as: "grace", in: garden, [nextDoor, todo])
      try await site.post("old lunch", as: "grace", in: garden, [chicago, ancient])
      try await site.post("lunch elsewhere #food", as: "linus", in: other)
      try await ada.sync.catchUp()
      let cache = ada.cache
      func texts(_ found: SearchResult) -> [String] { found.messages.map(\.text) }
      #expect(try await texts(cache.search("lunch", in: garden)) == ["lunch #Food with @ada", "old lunch"])
      #expect(try await texts(cache.search("LUN*")).count == 3)
      #expect(try await texts(cache.search("本語")) == ["dinner 日本語"])
      #expect(try await texts(cache.search("lunch -elsewhere", limit: 1)) == ["lunch #Food with @ada"])
      #expect(try await texts(cache.find([.hashtag("food")], in: garden)) == ["lunch #Food with @ada"])
      #expect(try await texts(cache.find([.hashtag("#FOOD")])).count == 2)
      #expect(try await texts(cache.find([.mention(site.id("ada"))])) == ["lunch #Food with @ada"])
      #expect(try await texts(cache.find([.annotation("com.example.todo")])) == ["dinner 日本語"])
      #expect(try await texts(cache.find([.annotation("net.app.ohai.displaydate")])).isEmpty)
      #expect(
        texts(try await cache.find([.author(site.id("linus")), .hashtag("food")])) == ["lunch elsewhere #food"])
      // In the next cells of the index.
      let location = Location(name: "mcdonald's", latitude: 37.7796, longitude: -122.4195)
      #expect(try await texts(cache.find([.location(location, .block)])) == ["lunch #Food with @ada"])
      #expect(try await texts(cache.find([.location(location, .town)])) == ["dinner 日本語", "lunch #Food with @ada"])
      #expect(try await texts(cache.searchLocations("mcdonald")).count == 3)
      #expect(try await texts(cache.messagesByDate(in: garden)).last == "old lunch")
      let millennium = Int64(try #require(Timestamp.parse("2000-01-01T00:00:00.000Z")))
      #expect(try await texts(cache.messagesByDate(in: garden, before: millennium)) == ["old lunch"])
      let split = try await cache.messagesByDate(in: garden) { $0.text.contains("lunch") }
      #expect(split.messages.count == 2)
      #expect(split.excluded.map(\.text) == ["dinner 日本語"])
      let shown = try #require(try await cache.find([.annotation("com.example.todo")]).messages.first)
      #expect(shown.displayLocation == "McDonald's")
      // Deleted messages are not found.
      let deleted = try #require(try await cache.search("elsewhere").messages.first?.message)
      _ = try await site.client("linus").send(.deleteMessage(deleted.id))
      try await ada.sync.catchUp()
      #expect(try await cache.search("elsewhere").messages.isEmpty)
      #expect(try await cache.find([.hashtag("food")], in: other).messages.isEmpty)
    }
  }

  @Test func `unsent messages are found among the others by their own date`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      var indexing = MessageIndexing()
      indexing.displayDate = MessageIndexing.date(inAnnotation: "net.app.ohai.displaydate")
      indexing.annotationTypes = ["com.example.todo"]
      let ada = try SiteClient(site, "ada", indexing)
      func dated(_ year: Int) -> Draft.Annotation {
        Draft.Annotation("net.app.ohai.displaydate") { $0.field("date", "\(year)-06-01T00:00:00.000Z") }
      }
      try await site.post("tea in 2003 #tea", as: "ada", in: garden, [dated(2003)])
      try await site.post("tea in 2001 #tea", as: "ada", in: garden, [dated(2001)])
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      let pier = Location(name: "Pier 39", latitude: 37.8087, longitude: -122.4098)
      var draft = Draft("tea in 2002 #Tea with @grace", annotations: [dated(2002)])
      draft.annotations.append(.location("Pier 39", latitude: pier.latitude, longitude: pier.longitude))
      draft.annotations.append(Draft.Annotation("com.example.todo") { _ in })
      try await ada.outbox.send(draft, in: garden)
      let all = ["tea in 2003 #tea", "tea in 2002 #Tea with @grace", "tea in 2001 #tea"]
      func texts(_ found: SearchResult) -> [String] { found.messages.map(\.text) }
      for isSent in [false, true] {
        if isSent { #expect(try await ada.outbox.sendAll() == nil) }
        #expect(try await texts(ada.cache.messagesByDate(in: garden)) == all)
        #expect(try await texts(ada.cache.search("tea", in: garden)) == all)
        #expect(try await texts(ada.cache.find([.hashtag("tea")], limit: 2)) == Array(all.prefix(2)))
        #expect(try await texts(ada.cache.find([.mention(site.id("grace"))])) == [all[1]])
        #expect(try await texts(ada.cache.find([.annotation("com.example.todo")])) == [all[1]])
        #expect(try await texts(ada.cache.find([.annotation("net.app.core.checkin")])).isEmpty)
        #expect(try await texts(ada.cache.find([.location(pier, .block)])) == [all[1]])
        #expect(try await texts(ada.cache.searchLocations("pier")) == [all[1]])
        let before = try #require(Timestamp.parse("2003-01-01T00:00:00.000Z"))
        #expect(try await texts(ada.cache.messagesByDate(in: garden, before: Int64(before))) == Array(all.suffix(2)))
        #expect(try await ada.cache.messagesByDate(in: garden).messages[1].displayLocation == "Pier 39")
      }
      // The text is different by now.
      let second = try await ada.outbox.send(Draft("coffee #coffee"), in: garden)
      #expect(try await texts(ada.cache.find([.hashtag("coffee")])).count == 1)
      try await ada.outbox.edit(.unsent(second.id), in: garden, to: "cocoa #cocoa")
      #expect(try await texts(ada.cache.find([.hashtag("coffee")])).isEmpty)
      #expect(try await texts(ada.cache.find([.hashtag("cocoa")])).count == 1)
    }
  }

  @Test func `a location without a name gets the name that the app resolves`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      var indexing = MessageIndexing()
      let requests = Atomic(0)
      indexing.locationName = { location in
        requests.add(1, ordering: .relaxed)
        return location.latitude > 50 ? "Alexanderplatz" : nil
      }
      let ada = try SiteClient(site, "ada", indexing)
      try await ada.sync.catchUp()
      let point = Draft.Annotation("net.app.core.geolocation") { json in
        json.field("latitude", 52.5219)
        json.field("longitude", 13.4132)
      }
      let message = try await site.post("here", as: "grace", in: garden, [point])
      try await ada.sync.catchUp()
      try await wait { try await ada.cache.searchLocations("alexanderplatz").messages.map(\.text) == ["here"] }
      // Later changes keep the name, without a second lookup.
      _ = try await ada.client.send(.setAction(on: message.id, type: .like))
      try await ada.sync.catchUp()
      #expect(try await ada.cache.messagesByDate(in: garden).messages.map(\.displayLocation) == ["Alexanderplatz"])
      #expect(requests.load(ordering: .relaxed) == 1)
    }
  }

  @Test func `an unresolved location is resolved again after its message changes`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      var indexing = MessageIndexing()
      let requests = Atomic(0)
      indexing.locationName = { _ in requests.add(1, ordering: .relaxed).newValue == 1 ? nil : "Alexanderplatz" }
      let ada = try SiteClient(site, "ada", indexing)
      try await ada.sync.catchUp()
      let point = Draft.Annotation("net.app.core.geolocation") { json in
        json.field("latitude", 52.5219)
        json.field("longitude", 13.4132)
      }
      let message = try await site.post("here", as: "grace", in: garden, [point])
      try await ada.sync.catchUp()
      try await wait { requests.load(ordering: .relaxed) == 1 }
      #expect(try await ada.cache.searchLocations("alexanderplatz").messages.isEmpty)
      var isSet = false
      try await wait {
        isSet.toggle()
        if isSet {
          _ = try await ada.client.send(.setAction(on: message.id, type: .like))
        } else {
          try await ada.client.send(.removeAction(on: message.id, type: .like))
        }
        try await ada.sync.catchUp()
        return try await !ada.cache.searchLocations("alexanderplatz").messages.isEmpty
      }
    }
  }

  @Test func `the newest cached messages are returned across gaps`() async throws {
    try await ScriptedSite.open { site in
      let garden = try await site.group("ada", "grace")
      let first = try await site.post("1", as: "grace", in: garden)
      for number in 2...3 { try await site.post("\(number)", as: "grace", in: garden) }
      let ada = try SiteClient(site, "ada")
      try await ada.sync.begin()
      try await ada.sync.refresh([first.id])
      #expect(try await ada.cache.newest(2, in: garden).map(\.text) == ["1", "3"])
      try await ada.outbox.send(Draft("mine"), in: garden)
      #expect(try await ada.cache.newest(2, in: garden).map(\.text) == ["3", "mine"])
    }
  }

  @Test(arguments: [false, true])
  func `MB-44a: a page with equal display dates skips no message`(isOnDisk: Bool) async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let garden = try await site.group("ada", "grace")
      var indexing = MessageIndexing()
      // Two, then nine at the same time, then one.
      indexing.displayDate = { $0.seq <= 2 ? Int64($0.seq) : $0.seq <= 11 ? 5 : 9 }
      let ada = try SiteClient(site, "ada", file: isOnDisk ? folder.path + "/cache.db" : nil, indexing)
      for number in 1...12 {
        let posted = try await site.post("\(number)", as: "grace", in: garden)
        if number % 3 != 0 { _ = try await ada.client.send(.setAction(on: posted.id, type: .like)) }
      }
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      for page in [1, 2, 3, 100] {
        let all = try await ada.cache.messagesWithAction(.like, in: garden, before: nil, limit: 50, page: page)
        #expect(all.map(\.text) == ["11", "10", "8", "7", "5", "4", "2", "1"], "\(page)")
        let some = try await ada.cache.messagesWithAction(.like, in: garden, before: 9, limit: 3, page: page)
        #expect(some.map(\.text) == ["11", "10", "8"], "\(page)")
      }
      // A pending deletion does not shorten a page.
      let first = try #require(try await ada.cached(garden).last)
      try await ada.outbox.delete(.message(first.id), in: garden)
      #expect(try await ada.cache.messagesWithAction(.like, in: garden, before: nil, limit: 50, page: 1).count == 8)
    }
  }

  @Test func `a new app version may index messages differently`() async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let file = folder.path + "/cache.db"
      let garden = try await site.group("ada", "grace")
      var indexing = MessageIndexing()
      indexing.annotationTypes = []
      let todo = Draft.Annotation("com.example.todo") { _ in }
      do {
        let ada = try SiteClient(site, "ada", file: file, indexing)
        try await ada.sync.catchUp()
        try await site.post("milk", as: "grace", in: garden, [todo])
        try await ada.sync.catchUp()
        #expect(try await ada.cache.find([.annotation("com.example.todo")]).messages.isEmpty)
      }
      indexing.annotationTypes = nil
      indexing.version = 2
      let ada = try SiteClient(site, "ada", file: file, indexing)
      #expect(try await ada.cache.find([.annotation("com.example.todo")]).messages.map(\.text) == ["milk"])
    }
  }

  @Test func `a file of a later version is not changed`() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let file = folder.path + "/cache.db"
    let connection = try Connection.writer(file)
    try connection.execute("pragma user_version = 2")
    connection.close()
    #expect(throws: CacheFault.newer(version: 2)) { _ = try DiskStore(file) }
  }

  @Test func `a file is used by one process at a time`() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let file = folder.path + "/cache.db"
    do {
      let first = try DiskStore(file)
      #expect(throws: CacheFault.inUse) { _ = try DiskStore(file, patience: .milliseconds(20)) }
      _ = try first.rows(of: .note)
    }
    _ = try DiskStore(file)
  }
}

@Suite struct SeqRangesTests {
  @Test(arguments: [
    ([1...3, 4...6], [1...6]), ([1...3, 5...6], [1...3, 5...6]), ([5...6, 1...3, 4...4], [1...6]),
    ([1...9, 3...4], [1...9]), ([2...4, 1...7], [1...7]),
  ])
  func `adjacent ranges are merged`(added: [ClosedRange<Int>], all: [ClosedRange<Int>]) {
    var stretches = SeqRanges()
    for one in added { stretches.add(one) }
    #expect(stretches.all == all)
  }

  @Test func `gaps are the ranges in between`() {
    var stretches = SeqRanges()
    stretches.add(3...5)
    stretches.add(8...9)
    #expect(stretches.missing(in: 1...10) == [1...2, 6...7, 10...10])
    #expect(stretches.missing(in: 4...8) == [6...7])
    #expect(stretches.missing(in: 8...9) == [])
    stretches.remove(4...8)
    #expect(stretches.all == [3...3, 9...9])
  }
}

@Suite struct DatePageTests {
  @Test(arguments: [false, true], [1, 2, 3, 7])
  func `MB-44a: pages by date have each message once, even of one date`(hasDisk: Bool, limit: Int) async throws {
    try await ScriptedSite.open { site in
      let folder = try Folder()
      defer { folder.remove() }
      let garden = try await site.group("ada", "grace")
      var indexing = MessageIndexing()
      // Three days, each with several messages.
      indexing.displayDate = { message in Int64(message.content?.text.first?.wholeNumberValue ?? 0) * 86_400_000 }
      let ada = try SiteClient(site, "ada", file: hasDisk ? folder.path + "/cache.db" : nil, indexing)
      for text in ["1a #x", "2a #x", "1b #x", "3a #x", "2b #x", "1c #x"] {
        let posted = try await site.post(text, as: "ada", in: garden)
        _ = try await ada.client.send(.setAction(on: posted.id, type: .like))
      }
      try await ada.sync.catchUp()
      try await ada.sync.fetchAll([garden])
      for text in ["2c #x", "2d #x", "1d #x"] {
        let unsent = try await ada.outbox.send(Draft(text), in: garden)
        try await ada.outbox.setAction(.like, on: .unsent(unsent.id), in: garden)
      }
      let expected = ["3a", "2d", "2c", "2b", "2a", "1d", "1c", "1b", "1a"].map { "\($0) #x" }
      let pages: [(CacheQuery.Position?) async throws -> SearchResult] = [
        { try await ada.cache.messagesByDate(in: garden, next: $0, limit: limit) },
        { try await ada.cache.search("x", in: garden, next: $0, limit: limit) },
        { try await ada.cache.find([.hashtag("x")], in: garden, next: $0, limit: limit) },
        { position in
          let found = try await ada.cache.messagesWithAction(.like, in: garden, next: position, limit: limit)
          return SearchResult(messages: found, next: found.last.map { .init(after: $0) })
        },
      ]
      for (number, page) in pages.enumerated() {
        var (found, next): ([String], CacheQuery.Position?) = ([], nil)
        repeat {
          let result = try await page(next)
          found += result.messages.map(\.text)
          next = result.next
        } while next != nil && found.count < 20
        #expect(found == expected, "\(number)")
      }
    }
  }
}
