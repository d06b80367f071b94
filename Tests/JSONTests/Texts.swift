import ParleyJSON

/// Texts and their expected results. Cases that RFC 8259 leaves to the reader are separate, with our choice.
enum Texts {
  static let valid: [String] = [
    // Structure.
    "[]", "{}", "[[]]", "[{}]", #"{"a":{}}"#, #"{"a":[]}"#, " [ ] ", "\t{\r\n}\n", "[[],[[]],{}]",
    #"{"a":1,"b":2}"#, #"{ "a" : 1 , "b" : [ 2 , 3 ] }"#, #"{"":0}"#, #"{"a":{"a":{"a":null}}}"#,
    #"[true,false,null]"#, "[1, 2]\n", #"[{"a":1},{"a":1}]"#,
    String(repeating: "[", count: 64) + String(repeating: "]", count: 64),
    // Top-level scalars.
    "true", "false", "null", "0", "-0", " 12 ", #""""#, #""text""#,
    // Numbers.
    "[0]", "[-1]", "[10]", "[1.5]", "[0.0]", "[-0.0]", "[1e1]", "[1E1]", "[1e+1]", "[1e-1]", "[0e0]", "[123.456e-789]",
    "[9223372036854775807]", "[-9223372036854775808]", "[3.141592653589793238462643383279502884197]",
    // Strings.
    #"[" "]"#, #"["\"\\\/\b\f\n\r\t"]"#, #"["\u0041\u00e9\u20AC\uFFFF"]"#, #"["\ud83c\udf55"]"#, #"["\u0000"]"#,
    #"["\u001f"]"#,
    "[\"\u{7f}\"]", "[\"é€🍕\"]", "[\"\u{2028}\u{2029}\"]", "[\"\u{e000}\u{10fffd}\"]", "[\"e\u{301}\"]",
    "[\"\u{feff}\"]",
    #"{"\u0061":1,"b":2}"#, #"{"a\"b":1}"#, #"["//","/*"]"#, #"{"\#u{e9}":1,"e\#u{301}":2}"#, #"["\\u0061"]"#,
  ]

  static let invalid: [(text: String, reason: JSONMalformation)] = [
    // Truncated.
    ("", .unexpectedEnd), (" ", .unexpectedEnd), ("[", .unexpectedEnd), ("[1", .unexpectedEnd), ("[1,", .unexpectedEnd),
    ("{", .unexpectedEnd), (#"{"a"#, .unexpectedEnd), (#"{"a""#, .unexpectedEnd), (#"{"a":"#, .unexpectedEnd),
    (#"{"a":1"#, .unexpectedEnd), (#"{"a":1,"#, .unexpectedEnd), (#"""#, .unexpectedEnd), (#""\"#, .unexpectedEnd),
    (#""\u00"#, .unexpectedEnd), (#""\ud83c"#, .unexpectedEnd), (#""\ud83c\"#, .unexpectedEnd),
    (#""\ud83c\udf"#, .unexpectedEnd),
    ("tru", .unexpectedEnd), ("-", .unexpectedEnd), ("1.", .unexpectedEnd), ("1e", .unexpectedEnd),
    ("1e-", .unexpectedEnd),
    // Commas, colons, brackets.
    ("[1,]", .unexpectedByte), (#"{"a":1,}"#, .unexpectedByte), ("[,]", .unexpectedByte), ("[,1]", .unexpectedByte),
    ("[1,,2]", .unexpectedByte), ("[1 2]", .unexpectedByte), ("[1}", .unexpectedByte), (#"{"a":1]"#, .unexpectedByte),
    ("]", .unexpectedByte), ("{]", .unexpectedByte), ("[}", .unexpectedByte), ("{,}", .unexpectedByte),
    (#"{"a" 1}"#, .unexpectedByte), (#"{"a"::1}"#, .unexpectedByte), (#"{"a":}"#, .unexpectedByte),
    (#"{:1}"#, .unexpectedByte),
    ("{1:1}", .unexpectedByte), ("{a:1}", .unexpectedByte), ("{'a':1}", .unexpectedByte), (#"{"a"}"#, .unexpectedByte),
    (#"{null:1}"#, .unexpectedByte), (#"["a":1]"#, .unexpectedByte), ("[1]]", .trailingBytes), ("{}{}", .trailingBytes),
    ("1 2", .trailingBytes), (#""a"b"#, .trailingBytes), ("[]\u{0}", .trailingBytes), ("nullx", .trailingBytes),
    ("[],", .trailingBytes),
    // Literals.
    ("True", .unexpectedByte), ("nul1", .unexpectedByte), ("NaN", .unexpectedByte), ("Infinity", .unexpectedByte),
    ("-Infinity", .invalidNumber), ("undefined", .unexpectedByte), ("nan", .unexpectedByte), ("'a'", .unexpectedByte),
    // Comments and invalid whitespace.
    ("/* */1", .unexpectedByte), ("1//", .trailingBytes), ("[\u{b}1]", .unexpectedByte), ("[\u{c}]", .unexpectedByte),
    ("[\u{a0}1]", .unexpectedByte), ("\u{2060}[]", .unexpectedByte), ("[\u{0}]", .unexpectedByte),
    // Numbers.
    ("01", .invalidNumber), ("-01", .invalidNumber), ("00", .invalidNumber), ("+1", .unexpectedByte),
    (".5", .unexpectedByte),
    ("[1.]", .invalidNumber), ("[1.e1]", .invalidNumber), ("[-.5]", .invalidNumber), ("[1e]", .invalidNumber),
    ("[1e+]", .invalidNumber), ("[--1]", .invalidNumber), ("[1e1.5]", .unexpectedByte), ("[0x10]", .unexpectedByte),
    ("[1_000]", .unexpectedByte), ("[1.2.3]", .unexpectedByte), ("[- 1]", .invalidNumber), ("[１]", .unexpectedByte),
    // Strings.
    ("[\"\n\"]", .controlCharacter), ("[\"\t\"]", .controlCharacter), ("[\"\u{0}\"]", .controlCharacter),
    ("[\"\u{1f}\"]", .controlCharacter), (#"["\a"]"#, .invalidEscape), (#"["\'"]"#, .invalidEscape),
    (#"["\x41"]"#, .invalidEscape),
    (#"["\0"]"#, .invalidEscape), (#"["\u004"]"#, .invalidEscape), (#"["\u00g0"]"#, .invalidEscape),
    (#"["\U0041"]"#, .invalidEscape),
    (#"["\u 041"]"#, .invalidEscape), (#"["\é"]"#, .invalidEscape), (#"["\u+041"]"#, .invalidEscape),
    // Depth.
    (String(repeating: "[", count: 65) + String(repeating: "]", count: 65), .tooDeep),
    (String(repeating: #"{"a":"#, count: 65) + "1" + String(repeating: "}", count: 65), .tooDeep),
    (String(repeating: "[", count: 100_000), .tooDeep),
  ]

  /// Allowed by the grammar or left to the reader, and rejected here: two readers may interpret them differently, so
  /// that one passes input on which the other acts.
  static let refusedByChoice: [(text: String, reason: JSONMalformation)] = [
    ("\u{feff}{}", .byteOrderMark), ("\u{feff}", .byteOrderMark),
    (#"{"a":1,"a":1}"#, .repeatedKey), (#"{"a":1,"a":2}"#, .repeatedKey), (#"{"a":1,"\u0061":2}"#, .repeatedKey),
    (#"{"":1,"":2}"#, .repeatedKey), (#"[{"b":{"a":1,"b":2,"a":3}}]"#, .repeatedKey),
    (#"{"a\n":1,"a\u000a":2}"#, .repeatedKey),
    (#"["\ud800"]"#, .loneSurrogate), (#"["\udc00"]"#, .loneSurrogate), (#"["\ud800\ud800"]"#, .loneSurrogate),
    (#"["\udf55\ud83c"]"#, .loneSurrogate), (#"["\ud83cx"]"#, .loneSurrogate), (#"["\ud83c\n"]"#, .loneSurrogate),
    (#"["\ud83c\u0041"]"#, .loneSurrogate), (#"{"\ud83c":1}"#, .loneSurrogate),
  ]

  /// Allowed by the grammar and accepted: a number's value is checked only on access.
  static let acceptedByChoice: [String] = [
    "[1e999]", "[-1e999]", "[1e-999]", "[123456789012345678901234567890]", "[0.1e-99999999999]", "[1e00001]", "[-0]",
    "[-0e0]",
  ]

  /// Invalid UTF-8, inside and outside strings.
  static let notUTF8: [[UInt8]] = [
    [0x80], [0xc0, 0x80], [0xc1, 0xbf], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf],
    [0xf0, 0x80, 0x80, 0x80],
    [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xff], [0xfe], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x8d],
    [0xc3, 0x28],
    [0xe2, 0x28, 0xa1], [0xf8, 0x88, 0x80, 0x80, 0x80],
  ]

  static var all: [[UInt8]] {
    let texts = valid + acceptedByChoice + invalid.map(\.text) + refusedByChoice.map(\.text)
    return texts.map { [UInt8]($0.utf8) } + notUTF8.map { [0x22] + $0 + [0x22] }
  }
}
