import Glibc
import ParleyJSON
import Testing

@Suite struct GrammarTests {
  @Test(arguments: Texts.valid + Texts.acceptedByChoice)
  func `a valid text is read`(text: String) throws {
    #expect(try JSONValue(parsing: [UInt8](text.utf8)).raw.bytes == trimmed(text))
  }

  @Test(arguments: Texts.invalid + Texts.refusedByChoice)
  func `an invalid text is rejected with the reason`(text: String, reason: JSONMalformation) {
    #expect(malformation([UInt8](text.utf8))?.reason == reason)
  }

  @Test(arguments: Texts.notUTF8)
  func `invalid UTF-8 is rejected`(bytes: [UInt8]) {
    let inString = [UInt8](#"{"a":""#.utf8) + bytes + [UInt8](#""}"#.utf8)
    #expect(malformation(inString)?.reason == .invalidUTF8)
    #expect(malformation(inString)?.offset == 6)
    #expect(malformation(bytes)?.reason == .invalidUTF8)
  }

  @Test func `other encodings are rejected`() {
    #expect(malformation([0xff, 0xfe, 0x5b, 0, 0x5d, 0])?.reason == .invalidUTF8)
    #expect(malformation([0x5b, 0, 0x5d, 0])?.reason == .unexpectedByte)
    #expect(malformation([0, 0x5b, 0, 0x5d])?.reason == .unexpectedByte)
  }

  @Test(arguments: Texts.valid + Texts.acceptedByChoice)
  func `a truncated text is rejected with unexpectedEnd`(text: String) throws {
    let bytes = [UInt8](text.utf8)
    let isNumber = try JSONValue(parsing: bytes).kind == .number
    for length in bytes.indices {
      let rest = bytes[length...]
      if rest.allSatisfy({ [0x20, 0x09, 0x0a, 0x0d].contains($0) }) && !trimmed(text).isEmpty
        && length >= trimmedEnd(bytes)
      {
        #expect(malformation(Array(bytes[..<length])) == nil)
      } else if !isNumber {
        let reason = malformation(Array(bytes[..<length]))?.reason
        #expect(reason == .unexpectedEnd || reason == .invalidUTF8, "\(length) bytes of \(text)")
      } else {
        _ = malformation(Array(bytes[..<length]))
      }
    }
  }

  @Test func `the error offset of a truncated invalid text is inside its bounds`() {
    for text in Texts.all where text.count < 1_000 {
      for length in text.indices {
        if let fault = malformation(Array(text[..<length])) { #expect(fault.offset <= length) }
      }
    }
  }

  @Test func `a range of a larger buffer is read`() throws {
    let buffer = [UInt8](#"xx[1,2]yy"#.utf8)
    let value = try JSONValue(parsing: buffer.span.extracting(2..<7))
    #expect(try value.array { item throws(JSONError) in try item.int() } == [1, 2])
  }

  @Test func `the caller can lower the depth limit`() throws {
    _ = try JSONValue(parsing: [UInt8]("[[]]".utf8), depth: 2)
    #expect(throws: JSONError.malformed(.tooDeep, offset: 1)) { try JSONValue(parsing: [UInt8]("[[]]".utf8), depth: 1) }
    _ = try JSONValue(parsing: [UInt8]("1".utf8), depth: 0)
  }

  @Test func `a duplicate key is found at every position`() throws {
    for count in [2, 3, 16, 17, 18, 300] {
      let keys = (0..<count).map { #""key\#($0)":\#($0)"# }
      _ = try JSONValue(parsing: [UInt8]("{\(keys.joined(separator: ","))}".utf8))
      for index in [0, count / 2, count - 1] {
        for again in [#""key\#(index)":0"#, #""\u006bey\#(index)":0"#] {
          let text = "{\((keys + [again]).joined(separator: ","))}"
          #expect(malformation([UInt8](text.utf8))?.reason == .repeatedKey)
        }
      }
    }
  }

  @Test func `canonically equivalent keys are different`() throws {
    var object = try JSONValue(parsing: [UInt8](#"{"\u00e9":1,"e\u0301":2,"E\u0301":3,"":4}"#.utf8)).object()
    #expect(
      object.members().map { Array($0.name.utf8) } == [[0xc3, 0xa9], [0x65, 0xcc, 0x81], [0x45, 0xcc, 0x81], []])
  }

  @Test func `many keys take linear time`() throws {
    // CPU time of this thread, independent of other load.
    func now() -> Int {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
    func time(_ count: Int) -> Int {
      let text = [UInt8]("{\((0..<count).map { #""\#($0)":0"# }.joined(separator: ","))}".utf8)
      let start = now()
      _ = malformation(text)
      return now() - start
    }
    let small = (0..<3).map { _ in time(2_000) }.min() ?? 0
    #expect(time(40_000) < small * 200, "twenty times the keys")
  }
}

func malformation(_ bytes: [UInt8]) -> (reason: JSONMalformation, offset: Int)? {
  do {
    _ = try JSONValue(parsing: bytes)
    return nil
  } catch {
    guard case .malformed(let reason, let offset) = error else {
      Issue.record("reading names no fields: \(error)")
      return nil
    }
    return (reason, offset)
  }
}

private func trimmedEnd(_ bytes: [UInt8]) -> Int {
  (bytes.lastIndex { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } ?? -1) + 1
}

private func trimmed(_ text: String) -> [UInt8] {
  let bytes = [UInt8](text.utf8)
  let start = bytes.firstIndex { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } ?? 0
  return Array(bytes[start..<trimmedEnd(bytes)])
}
