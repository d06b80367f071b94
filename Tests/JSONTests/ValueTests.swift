import ParleyJSON
import Testing

@Suite struct ValueTests {
  @Test(arguments: [
    ("0", 0), ("-0", 0), ("7", 7), ("-7", -7), ("9223372036854775807", Int.max), ("-9223372036854775808", Int.min),
  ])
  func `an integer is exact`(text: String, expected: Int) throws {
    #expect(try value(text).int() == expected)
  }

  @Test(arguments: [
    ("9223372036854775808", JSONFieldError.Reason.outOfRange), ("-9223372036854775809", .outOfRange),
    ("99999999999999999999999999999999999999999", .outOfRange), ("1.5", .notInteger), ("1.0", .notInteger),
    ("1e2", .notInteger),
    ("-0.0", .notInteger), (#""1""#, .wrongType(expected: .number)), ("null", .wrongType(expected: .number)),
  ])
  func `a number that is no exact integer is rejected`(text: String, reason: JSONFieldError.Reason) {
    #expect(throws: JSONError.refused([JSONFieldError(field: "", reason: reason)])) { try value(text).int() }
  }

  @Test func `an integer outside its range is rejected`() throws {
    #expect(try value("200").int(in: 1...200) == 200)
    #expect(throws: JSONError.refused([JSONFieldError(field: "", reason: .notInRange(1...200))])) {
      try value("201").int(in: 1...200)
    }
    let fault = JSONFieldError(field: "limit", reason: .notInRange(1...200))
    #expect(fault.code == "out_of_range")
    #expect(fault.params.map(\.key) == ["min", "max"] && fault.params.map(\.value) == [.number(1), .number(200)])
  }

  @Test(arguments: [
    ("0.1", 0.1), ("1e2", 100), ("-0.0", -0.0), ("1e-999", 0),
    ("1.7976931348623157e308", Double.greatestFiniteMagnitude),
    ("5e-324", Double.leastNonzeroMagnitude), ("12", 12), ("2.2250738585072014e-308", Double.leastNormalMagnitude),
  ])
  func `a double is the nearest`(text: String, expected: Double) throws {
    #expect(try value(text).double() == expected)
  }

  @Test(arguments: ["1e999", "-1e999", "1.8e308", String(repeating: "9", count: 2_000)])
  func `a number outside the range of Double is rejected`(text: String) {
    #expect(throws: JSONError.refused([JSONFieldError(field: "", reason: .outOfRange)])) { try value(text).double() }
  }

  @Test func `a text with a number outside the range of Double is refused by its field`() throws {
    try value(#"{"a":[1e308,"1e999",{"b":-1.5E+2}],"c":12}"#).requireFiniteNumbers()
    let digits = String(repeating: "9", count: 310)
    for (text, field) in [(#"{"a":[0,{"b":1e999}]}"#, "a[1].b"), (#"{"a":-1E400}"#, "a"), (digits, "")] {
      #expect(throws: JSONError.refused([JSONFieldError(field: field, reason: .outOfRange)])) {
        try value(text).requireFiniteNumbers()
      }
    }
  }

  @Test(arguments: [
    (#""""#, ""), (#""plain""#, "plain"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
    (#""\u0041\u00e9\u20AC""#, "Aé€"),
    (#""\ud83c\udf55 \uD800\uDC00 \udbff\udfff""#, "🍕 \u{10000} \u{10ffff}"), (#""é\n🍕""#, "é\n🍕"),
    (#""\u0000""#, "\0"),
    (#""\\u0041""#, "\\u0041"),
  ])
  func `escapes are decoded`(text: String, expected: String) throws {
    #expect(Array(try value(text).string().utf8) == Array(expected.utf8))
  }

  @Test func `raw bytes are unchanged`() throws {
    let text = #"{"type":"x", "value": { "n" : 1.50e+1, "é" : [ ] } }"#
    var object = try value(text).object()
    let raw = try object.raw("value")
    #expect(raw.bytes == [UInt8](#"{ "n" : 1.50e+1, "é" : [ ] }"#.utf8))
    #expect(raw.compact.bytes == [UInt8](#"{"n":1.50e+1,"é":[]}"#.utf8))
  }

  @Test func `compacting does not change strings`() throws {
    let raw = try value(#"[ "a  b" , "\" [ ] " , "\\" , " " ]"#).raw
    #expect(raw.compact.bytes == [UInt8](#"["a  b","\" [ ] ","\\"," "]"#.utf8))
  }
}

func value(_ text: String) throws(JSONError) -> JSONValue { try JSONValue(parsing: [UInt8](text.utf8)) }
