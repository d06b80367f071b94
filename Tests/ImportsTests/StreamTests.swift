import ParleyJSON
import TestSupport
import Testing

@testable import Imports

@Suite struct StreamTests {
  /// The values as texts.
  static func items(_ json: String, list: String?, pieces: Int) throws -> [String] {
    var stream = JSONStream(source(json, pieces: pieces), "a.json", list: list)
    var items: [String] = []
    while let item = try stream.next() {
      switch item {
      case .member(let name, let value): items.append("\(name)=\(String(decoding: value.raw.bytes, as: UTF8.self))")
      case .element(let value): items.append(String(decoding: value.raw.bytes, as: UTF8.self))
      }
    }
    return items
  }

  @Test(arguments: [1, 2, 3, 7, 65_536]) func `values of a document come one by one`(pieces: Int) throws {
    #expect(
      try Self.items(
        #" {"a": {"b": [1, "]}"]}, "n" : -1.5e3 , "messages": [ {"x":"\"}"}, 12 ,"q\\", null,[] ], "z":true}  "#,
        list: "messages", pieces: pieces) == [
          #"a={"b": [1, "]}"]}"#, "n=-1.5e3", #"{"x":"\"}"}"#, "12", #""q\\""#, "null", "[]", "z=true",
        ])
    #expect(try Self.items("[1,2, {}]", list: nil, pieces: pieces) == ["1", "2", "{}"])
    #expect(try Self.items("\u{feff}[]", list: nil, pieces: pieces) == [])
    #expect(try Self.items("{}", list: "messages", pieces: pieces) == [])
  }

  @Test func `a malformed document is refused`() throws {
    let cases = [
      "", "{", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]]", "[1] x", "nul", "[nul]", "[\"a]", "[\"\\u12\"]",
      "[{]}", "[1}",
      "[\"\u{1}\"]", "[01]", "[{\"a\":1,}]", "{}",
    ]
    for text in cases {
      for pieces in [1, 65_536] {
        #expect(throws: ImportFault.self, "\(text)") { try Self.items(text, list: nil, pieces: pieces) }
      }
    }
    for text in [
      "[]", "{\"messages\":1}", "{\"messages\":[1}", "{\"messages\":[]", "{\"a\"}", "{1:2}", "{\"a\":1,}",
      "{\"a\":1 \"b\":2}",
    ] {
      #expect(throws: ImportFault.self, "\(text)") { try Self.items(text, list: "messages", pieces: 3) }
    }
  }

  @Test func `a value above the limit is refused before it is kept`() throws {
    let long = "[\"" + String(repeating: "a", count: ImportLimits.valueBytes + 1) + "\"]"
    let fault = #expect(throws: ImportFault.self) { try Self.items(long, list: nil, pieces: 65_536) }
    #expect(fault?.description.contains("more than 16 MB") == true)
  }

  @Test func `no cut and no flipped byte of a document crashes the reader`() throws {
    let bytes = Array(#"{"a":{"b":[1,"]}"]},"messages":[{"x":"\"}"},12,"q\\",null,[]],"z":true}"#.utf8)
    for count in bytes.indices {
      _ = try? Self.items(String(decoding: bytes.prefix(count), as: UTF8.self), list: "messages", pieces: 5)
      for flip: UInt8 in [1, 2, 0x20, 0x80] {
        var changed = bytes
        changed[count] ^= flip
        var stream = JSONStream(MemorySource(changed, pieceSize: 4), "a.json", list: "messages")
        while let item = try? stream.next() { _ = item }
      }
    }
  }

  @Test(arguments: [1, 5, 65_536]) func `rows of a dump come by table`(pieces: Int) throws {
    let dump = """
      -- PostgreSQL database dump
      COPY public.other (id) FROM stdin;
      1
      \\.

      COPY public."posts" (id, raw, "hidden") FROM stdin;
      1\ta\\tb\\nc\\\\d\t\\N
      2\t\tt
      \\.
      CREATE INDEX x;

      """
    var reader = CopyReader(source(dump, pieces: pieces), "dump.sql", tables: ["posts"])
    var items: [String] = []
    var places: [String] = []
    var start = reader.offset
    while let item = try reader.next() {
      switch item {
      case .table(let name, let columns): items.append("\(name) \(columns)")
      case .row(let values):
        items.append("\(values.map { $0 ?? "NULL" })")
        let bytes = Array(dump.utf8)[start..<reader.offset]
        places.append(String(decoding: bytes, as: UTF8.self))
      case .end: items.append("end")
      }
      start = reader.offset
    }
    #expect(
      items == [
        #"posts ["id", "raw", "hidden"]"#, #"["1", "a\tb\nc\\d", "NULL"]"#, #"["2", "", "t"]"#, "end",
      ])
    #expect(places == ["1\ta\\tb\\nc\\\\d\t\\N\n", "2\t\tt\n"])
  }

  @Test func `a damaged dump is refused`() throws {
    for (dump, sentence) in [
      ("COPY public.posts (id, raw) FROM stdin;\n1\ta", "is cut in the table posts"),
      ("COPY public.posts (id, raw) FROM stdin;\n1\n\\.\n", "a row has 1 values instead of 2"),
      ("COPY public.posts (id, raw) FROM stdin;\n1\t2\t3\n\\.\n", "a row has 3 values instead of 2"),
    ] {
      var reader = CopyReader(source(dump), "dump.sql", tables: ["posts"])
      let fault = #expect(throws: ImportFault.self) { while try reader.next() != nil {} }
      #expect(fault?.description.contains(sentence) == true, "\(sentence)")
    }
  }

  @Test func `times of a source are of the past`() throws {
    let clock = SourceClock(now: 1_600_000_000_000)
    #expect(try clock.time("2020-01-01T00:00:00.250+01:00", of: "It") == 1_577_833_200_250)
    #expect(try clock.seconds("1577836800.000100", of: "It") == 1_577_836_800_000)
    #expect(try clock.seconds("1577836800.25", of: "It") == 1_577_836_800_250)
    #expect(try clock.dumped("2020-01-01 00:00:00.123456", of: "It") == 1_577_836_800_123)
    for text in ["", "yesterday", "2021-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2020-13-01T00:00:00Z"] {
      #expect(throws: ImportFault.self) { try clock.time(text, of: "It") }
    }
    for text in ["", "-1", "1e9", "99999999999999999999", "1577836800.0.0", "1577836800.x", "1700000000.0"] {
      #expect(throws: ImportFault.self, "\(text)") { try clock.seconds(text, of: "It") }
    }
  }
}
