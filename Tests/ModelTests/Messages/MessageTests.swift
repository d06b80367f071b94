import ParleyJSON
import ParleyModel
import TestSupport
import Testing

private func json(_ value: some JSONWritable) -> String {
  var json = JSONWriter()
  json.value(value)
  return String(decoding: json.bytes, as: UTF8.self)
}

private func message(_ text: String) throws -> Message {
  try Message(json: JSONValue(parsing: Array(text.utf8)))
}

private func raw(_ text: String) -> JSONRaw { JSONRaw(trusted: Array(text.utf8)) }

private let live = Message(
  id: ID(1042), conversation: ID(12), author: ID(7), clientID: "9b1c", seq: 431, previous: ID(1039),
  createdAt: 1_795_187_801_123,
  state: .live(
    Message.Content(
      text: "pizza party! #food @ada https://example.org", entities: raw(#"{"mentions":[],"hashtags":["food"]}"#),
      annotations: raw(#"[{"type":"com.example.todo","value":{}}]"#), attachments: [ID(98), ID(99)],
      sentAt: 1_795_187_800_000, actions: [.init(type: "like", count: 1), .init(type: "reaction:👍", count: 2)])))

@Suite struct MessageTests {
  @Test func `a live message is encoded as in the API description`() throws {
    let text =
      #"{"id":"1042","conversation_id":"12","author_id":"7","client_id":"9b1c","seq":431,"previous_message":"1039","#
      + #""text":"pizza party! #food @ada https://example.org","entities":{"mentions":[],"hashtags":["food"]},"#
      + #""annotations":[{"type":"com.example.todo","value":{}}],"attachments":["98","99"],"reply_to":null,"#
      + #""machine_only":false,"created_at":"2026-11-20T15:16:41.123Z","sent_at":"2026-11-20T15:16:40.000Z","#
      + #""edited_at":null,"revision":1,"deleted":false,"actions":{"like":{"count":1},"reaction:👍":{"count":2}}}"#
    #expect(json(live) == text)
    #expect(try message(text) == live)
  }

  @Test func `a tombstone is encoded without content`() throws {
    var deleted = live
    deleted.revision = 2
    deleted.state = .deleted(
      Message.Tombstone(at: 1_795_187_802_000, by: ID(7), deletion: .moved, reason: "off topic", movedTo: ID(2_000)))
    let text =
      #"{"id":"1042","conversation_id":"12","author_id":"7","client_id":"9b1c","seq":431,"previous_message":"1039","#
      + #""reply_to":null,"machine_only":false,"created_at":"2026-11-20T15:16:41.123Z","revision":2,"deleted":true,"#
      + #""deleted_at":"2026-11-20T15:16:42.000Z","deleted_by":"7","deletion":"moved","reason":"off topic","#
      + #""moved_to":"2000"}"#
    #expect(json(deleted) == text)
    #expect(try message(text) == deleted)
  }

  @Test func `empty members are encoded as an empty array or object, never as null`() throws {
    let bare = Message(
      id: ID(4), conversation: ID(3), author: ID(1), seq: 1, previous: nil, createdAt: 0,
      state: .live(Message.Content(text: "")))
    let text = json(bare)
    #expect(
      text.contains(
        #""text":"","entities":{"mentions":[],"hashtags":[],"links":[]},"annotations":[],"attachments":[],"#))
    #expect(text.hasSuffix(#""deleted":false,"actions":{}}"#))
    #expect(try message(text) == bare)
  }

  @Test func `random messages survive a JSON round trip`() throws {
    var random = Seeded(seed: 1)
    for _ in 0..<2_000 {
      let made = Message.random(&random)
      #expect(try message(json(made)) == made)
    }
  }

  @Test func `the size of a message bounds its JSON, and of a long text closely`() {
    var random = Seeded(seed: 2)
    for number in 0..<2_000 {
      var made = Message.random(&random)
      if var content = made.content, number.isMultiple(of: 2) {
        content.text = String(repeating: content.text, count: 1_000)
        content.descriptions = content.attachments.map { _ in "\u{1}\"" }
        content.poll = Poll(PollDraft(["\u{2}", "🧶"]))
        content.buttons = [MessageButton("id", "\"")]
        made.state = .live(content)
      }
      let view = MessageView(made, mine: ["star", "like"], vote: [0, 1], status: .allRead, html: "<p>\"\u{1}</p>\n")
      let count = json(view).utf8.count
      #expect(count <= view.size && view.size < count + 2_000, "\(json(view).prefix(500))")
    }
  }

  @Test func `the content of a tombstone is dropped when decoding`() throws {
    let text = json(live).replacing(
      #""deleted":false"#, with: #""deleted":true,"deleted_at":"2026-11-20T15:16:42Z","deletion":"author""#)
    let read = try message(text)
    #expect(read.content == nil)
    #expect(!json(read).contains("pizza"))
  }

  @Test func `unknown members are ignored`() throws {
    #expect(try message(json(live).replacing(#""deleted""#, with: #""mood":{"a":[1]},"deleted""#)) == live)
  }

  @Test(arguments: [
    (#""id":"1042""#, #""id":1042"#), (#""id":"1042""#, #""id":"01042""#), (#""seq":431"#, #""seq":0"#),
    (#""revision":1"#, #""revision":1.5"#), (#""created_at":"2026"#, #""created_at":"26"#),
    (#""entities":{"#, #""entities":[{"#), (#""deleted":false"#, #""deleted":null"#),
    (#""machine_only":false,"#, ""), (#""count":1"#, #""count":-1"#), (#""attachments":["98""#, #""attachments":[98"#),
    (#""edited_at":null"#, #""edited_at":"2026-11-20T15:16:42Z""#), (#""seq""#, #""kind":"poem","seq""#),
    (#""deleted":false"#, #""deleted":true"#),
  ])
  func `an invalid message is refused`(part: String, instead: String) {
    let text = json(live).replacing(part, with: instead).replacing(#"[{"mentions":[],"hashtags":["food"]}"#, with: "[]")
    #expect(text != json(live))
    #expect(throws: JSONError.self) { try message(text) }
  }
}

@Suite struct IDTests {
  @Test(arguments: ["1", "10", "9007199254740991"])
  func `an id is parsed from its digits`(text: String) throws {
    #expect(ID<Message>(text)?.description == text)
    #expect(json(try #require(ID<Message>(text))) == "\"\(text)\"")
  }

  @Test(arguments: ["", "0", "01", "-1", "+1", " 1", "1 ", "1.0", "١", "9007199254740992", "99999999999999999999", "a"])
  func `an id with another spelling is refused`(text: String) { #expect(ID<Message>(text) == nil) }
}

extension Message {
  fileprivate static func random(_ random: inout Seeded) -> Message {
    func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
    func number() -> Int { Int.random(in: 1...9_007_199_254_740_991, using: &random) }
    func text() -> String { String(["a", "é", "\"", "\n", "\u{0}", "🍕", "\\"].shuffled(using: &random).joined()) }
    func time() -> Int64 { Int64.random(in: 0...4_000_000_000_000, using: &random) }
    let content = Content(
      text: text(), entities: maybe(raw(#"{"links":[{"url":"https://example.org"}]}"#)),
      annotations: maybe(raw("[ 1.50 ]")),
      attachments: (0..<Int.random(in: 0...3, using: &random)).map { _ in ID(number()) }, sentAt: maybe(time()),
      edit: maybe(Edit(at: time(), by: ID(number()))),
      actions: (0..<Int.random(in: 0...3, using: &random)).map {
        ActionCount(type: "t\($0)" + text(), count: number())
      },
      repostOf: maybe(ID(number())))
    let tombstone = Tombstone(
      at: time(), by: maybe(ID(number())), deletion: Deletion.allCases.randomElement(using: &random) ?? .author,
      reason: maybe(text()), movedTo: maybe(ID(number())))
    return Message(
      id: ID(number()), conversation: ID(number()), author: ID(number()), clientID: maybe(text()),
      kind: Bool.random(using: &random) ? .message : .system, seq: number(), previous: maybe(ID(number())),
      replyTo: maybe(ID(number())), isMachineOnly: Bool.random(using: &random), createdAt: time(), revision: number(),
      movedFrom: maybe(ID(number())), state: Bool.random(using: &random) ? .live(content) : .deleted(tombstone))
  }
}
