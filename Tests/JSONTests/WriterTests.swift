import ParleyJSON
import Testing

@Suite struct WriterTests {
  @Test func `a preencoded name is written like any other`() {
    let (plain, odd) = (JSONName("id"), JSONName("a \"b\"\n"))
    let text = written { json in
      json.object { json in
        json.field(plain, 1)
        json.field(odd, [true])
        json.object("more") { json in json.field(plain, String?.none) }
        json.field("last", false)
      }
    }
    #expect(text == #"{"id":1,"a \"b\"\n":[true],"more":{"id":null},"last":false}"#)
  }

  @Test(arguments: [0, 1, 9, 10, 99, 100, 9_007_199_254_740_991, UInt.max])
  func `an id is a quoted number`(_ number: UInt) {
    #expect(
      written { json in json.array { json in for _ in 1...2 { json.quoted(number) } } }
        == "[\"\(number)\",\"\(number)\"]")
  }

  @Test func `commas, colons and brackets are written`() {
    let text = written { json in
      json.object { json in
        json.field("id", "7")
        json.field("seq", 431)
        json.null("reply_to")
        json.field("edited_at", String?.none)
        json.field("sent_at", Optional("now"))
        json.field("deleted", false)
        json.array("mentions") { json in
          json.value("ada")
          json.value(true)
          json.null()
          json.object { json in json.field("n", 1) }
          json.array { _ in }
          json.object { _ in }
        }
        json.object("actions") { json in
          json.object("like") { json in json.field("count", 2) }
          json.object("star") { _ in }
        }
        json.field("tags", ["a", "b"])
        json.field("rows", [[1], [], [2, 3]])
      }
    }
    #expect(
      text == #"{"id":"7","seq":431,"reply_to":null,"edited_at":null,"sent_at":"now","deleted":false,"#
        + #""mentions":["ada",true,null,{"n":1},[],{}],"actions":{"like":{"count":2},"star":{}},"#
        + #""tags":["a","b"],"rows":[[1],[],[2,3]]}"#)
  }

  @Test(arguments: [
    ("", #""""#), ("plain", #""plain""#), ("\"\\/", #""\"\\/""#), ("\u{8}\u{c}\n\r\t", #""\b\f\n\r\t""#),
    ("\0\u{1}\u{1f}\u{7f}", "\"\\u0000\\u0001\\u001f\u{7f}\""), ("é€🍕", "\"é€🍕\""),
    ("\u{2028}\u{2029}", "\"\u{2028}\u{2029}\""),
    ("</script>", #""</script>""#),
    (String(repeating: "long ", count: 40) + "\n", #""\#(String(repeating: "long ", count: 40))\n""#),
  ])
  func `only required escapes are written`(text: String, expected: String) throws {
    #expect(written { $0.value(text) } == expected)
    #expect(try value(expected).string() == text)
    let asKey = written { json in json.object { json in json.field(text, 1) } }
    #expect(asKey == "{\(expected):1}")
  }

  @Test func `every scalar below a thousand reads back`() throws {
    for number in UInt32(0)..<1_000 {
      let text = "a" + String(Unicode.Scalar(number).map(Character.init) ?? "?") + "b"
      #expect(try Array(value(written { $0.value(text) }).string().utf8) == Array(text.utf8))
    }
  }

  @Test func `every kind of escape fits the reserved capacity`() throws {
    for count in 0..<70 {
      for escaped in ["\"", "\u{1}", "\n", "é\u{1f}"] {
        let text = String(repeating: escaped, count: count)
        #expect(try value(written { $0.value(text) }).string() == text)
        #expect(written { $0.value(text) }.utf8.count == JSONWriter.size(of: text))
      }
    }
  }

  /// Texts are tested and copied by words of eight bytes, of which the last may overlap the one before.
  @Test func `an escape is written at every position of every length`() {
    let escapes = ["\"": #"\""#, "\\": #"\\"#, "\u{1f}": #"\u001f"#, "\0": #"\u0000"#]
    let plain = ["\u{20}", "!", "#", "[", "]", "\u{7f}", "\u{a2}", "\u{5c5c}"]
    for length in 1..<36 {
      for position in 0..<length {
        let before = String(repeating: "a", count: position)
        let after = String(repeating: "~", count: length - position - 1)
        for (character, escape) in escapes {
          #expect(written { $0.value(before + character + after) } == "\"\(before)\(escape)\(after)\"")
        }
        for character in plain {
          let text = before + character + after
          #expect(written { $0.value(text) } == "\"\(text)\"")
        }
      }
    }
  }

  @Test func `long texts are copied whole`() {
    for length in [127, 128, 129, 5_000] {
      let text = String((0..<length).map { Character(Unicode.Scalar(UInt8(97 + $0 % 26))) })
      #expect(written { $0.value(text) } == "\"\(text)\"")
    }
  }

  @Test(arguments: [0, 1, -1, 9, 10, 11, 99, 100, 101, -10, 1_000_000, 999_999_999_999, .max, .min, .max - 1])
  func `an integer reads back`(number: Int) throws {
    #expect(written { $0.value(number) } == String(number))
    #expect(try value(written { $0.value(Int64(number)) }).int() == number)
  }

  @Test func `the largest unsigned integer is written`() {
    #expect(written { $0.value(UInt64.max) } == "18446744073709551615")
  }

  @Test(arguments: [
    0.0, -0.0, 0.1, 1, 1.5, -2.5, 100, 1e20, 1e21, 1e-7, 123456789.125, .pi, .greatestFiniteMagnitude,
    .leastNormalMagnitude,
    .leastNonzeroMagnitude, 9_007_199_254_740_992,
  ])
  func `a double reads back bit by bit`(number: Double) throws {
    #expect(try value(written { $0.value(number) }).double().bitPattern == number.bitPattern)
  }

  @Test(arguments: [Double.infinity, -.infinity, .nan, .signalingNaN])
  func `infinity and NaN are written as null`(number: Double) {
    #expect(written { $0.value(number) } == "null")
  }

  @Test func `raw bytes are written unchanged`() throws {
    let annotation = try value(#"{ "n" : 1.50 }"#)
    let text = written { json in
      json.array { json in
        json.value(annotation.raw)
        json.value(annotation)
        json.value(annotation.raw.compact)
      }
    }
    #expect(text == #"[{ "n" : 1.50 },{ "n" : 1.50 },{"n":1.50}]"#)
  }

  @Test func `existing bytes are kept`() {
    var json = JSONWriter(appendingTo: [UInt8]("data: ".utf8))
    json.value([1])
    #expect(json.bytes == [UInt8]("data: [1]".utf8))
  }

  @Test func `an error in a closure is rethrown`() {
    struct Stop: Error {}
    var json = JSONWriter()
    #expect(throws: Stop.self) { try json.object { _ throws(Stop) in throw Stop() } }
  }
}

private func written(_ write: (inout JSONWriter) -> Void) -> String {
  var json = JSONWriter()
  write(&json)
  return String(decoding: json.bytes, as: UTF8.self)
}
