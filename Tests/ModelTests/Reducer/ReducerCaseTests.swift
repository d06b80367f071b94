import ParleyModel
import TestSupport
import Testing

/// A case of `Tests/Contract/reducer.json`, which also tests the JavaScript reducer.
struct ReducerCase: Decodable, Sendable, CustomTestStringConvertible {
  let name: String
  let conversation: Start?
  let steps: [Step]
  let after: After

  var testDescription: String { name }

  struct Start: Decodable, Sendable {
    let unread: Int?
    let read_up_to: Int?
    let last_seq: Int?
  }

  /// An event, or a message of a response as of an event.
  struct Step: Decodable, Sendable {
    let event: Int?
    let response: Int?
    let offset: Int?
    let kind: String?
    let by: Int?
    let message: MessageRow?
    let actions: Actions?
    let participant: ParticipantRow?
    let read_up_to: Int?
    let result: String?
    let needs: [String]?
  }

  struct MessageRow: Decodable, Sendable {
    let seq: Int
    let id: Int?
    let author: Int?
    let revision: Int?
    let text: String?
    let isDeleted: Bool
    let machine_only: Bool?
    let actions: [String: Int]?
    let mine: [String]?
    let moved_from: Int?

    enum CodingKeys: String, CodingKey {
      case seq, id, author, revision, text, machine_only, actions, mine, moved_from
    }

    init(from decoder: any Decoder) throws {
      let row = try decoder.container(keyedBy: CodingKeys.self)
      seq = try row.decode(Int.self, forKey: .seq)
      id = try row.decodeIfPresent(Int.self, forKey: .id)
      author = try row.decodeIfPresent(Int.self, forKey: .author)
      revision = try row.decodeIfPresent(Int.self, forKey: .revision)
      text = try row.decodeIfPresent(String.self, forKey: .text)
      // A text of null, other than none.
      isDeleted = row.contains(.text) && text == nil
      machine_only = try row.decodeIfPresent(Bool.self, forKey: .machine_only)
      actions = try row.decodeIfPresent([String: Int].self, forKey: .actions)
      mine = try row.decodeIfPresent([String].self, forKey: .mine)
      moved_from = try row.decodeIfPresent(Int.self, forKey: .moved_from)
    }

    var view: MessageView {
      var message = Copy.message(
        seq, by: author ?? 2, revision: revision ?? 1, isDeleted ? nil : text ?? "x", machineOnly: machine_only ?? false
      )
      if let id { message.id = ID(id) }
      message.movedFrom = moved_from.map { ID($0) }
      if !isDeleted {
        message.state = .live(Message.Content(text: text ?? "x", actions: Actions.counts(actions ?? [:])))
      }
      return MessageView(message, mine: Set(mine ?? []))
    }
  }

  struct Actions: Decodable, Sendable {
    let seq: Int
    let counts: [String: Int]

    static func counts(_ counts: [String: Int]) -> [Message.ActionCount] {
      counts.sorted { $0.key < $1.key }.map { Message.ActionCount(type: $0.key, count: $0.value) }
    }
  }

  struct ParticipantRow: Decodable, Sendable {
    let user: Int
    let role: String?
  }

  struct After: Decodable, Sendable {
    let is_gone: Bool?
    let offset: Int?
    let unread: Int?
    let last_seq: Int?
    let read_up_to: Int?
    let participants: [String: String]?
    let messages: [String: ReplicaRow?]?
  }

  struct ReplicaRow: Decodable, Sendable {
    let text: String?
    let actions: [String: Int]?
    let mine: [String]?
  }

  static var all: [ReducerCase] { get throws { try Checkout.cases("reducer.json") } }
}

extension ReducerCase.Step {
  func event(_ id: Int) throws -> ReceivedEvent {
    let kind = try #require(Event.Kind.allCases.first { $0.name == self.kind })
    let content: DeliveredEvent.Content =
      if let message {
        .message(message.view.message)
      } else if let actions {
        .actions(ID(1_000 + actions.seq), ReducerCase.Actions.counts(actions.counts))
      } else if let participant {
        .participant(
          Copy.conversation, ID(participant.user),
          try participant.role.map { try #require(ParticipantRole(rawValue: $0)) })
      } else if let read_up_to {
        .readPosition(Copy.conversation, ReadPosition(readSeq: read_up_to, deliveredSeq: read_up_to))
      } else if kind == .conversationRemoved {
        .thing(Copy.conversation.number)
      } else {
        .hidden
      }
    let isOwn = kind == .readPositionUpdated || kind == .conversationRemoved
    return Copy.event(id, isOwn ? Copy.own : Copy.stream, try #require(offset), kind, content, by: by ?? 2)
  }
}

@Test func `the reducer cases have unique names`() throws {
  let cases = try ReducerCase.all
  #expect(Set(cases.map(\.name)).count == cases.count)
}

@Test(arguments: try ReducerCase.all)
func `a case leads to its replica`(row: ReducerCase) throws {
  let start = row.conversation
  var copy = Copy(unread: start?.unread ?? 0, readSeq: start?.read_up_to ?? 0, lastSeq: start?.last_seq ?? 0)
  for step in row.steps {
    if let event = step.event {
      let before = copy.replica.needs
      let result = copy.replica.apply(try step.event(event))
      let name =
        switch result {
        case .applied: "applied"
        case .known: "known"
        case .missing: "gap"
        }
      #expect(name == step.result ?? name)
      if let needs = step.needs {
        let requested = copy.replica.needs.subtracting(before).compactMap { need in
          if case .message(let id) = need { "message:\(id)" } else { nil }
        }
        #expect(requested.sorted() == needs)
      }
    } else if let response = step.response, let message = step.message {
      copy.replica.merge([message.view], asOf: response)
    }
  }
  let after = row.after
  #expect((copy.known == nil) == (after.is_gone ?? false))
  guard let known = copy.known else {
    #expect(copy.replica.positions[Copy.stream] == nil)
    return
  }
  #expect(copy.replica.positions[Copy.stream]?.offset == after.offset ?? copy.replica.positions[Copy.stream]?.offset)
  #expect(known.unread == after.unread ?? known.unread)
  #expect(known.conversation.lastSeq == after.last_seq ?? known.conversation.lastSeq)
  #expect(known.readPosition.readSeq == after.read_up_to ?? known.readPosition.readSeq)
  if let participants = after.participants {
    let list = (known.conversation.participants ?? []).map { ("\($0.user)", $0.role.rawValue) }
    #expect(Dictionary(list, uniquingKeysWith: { one, _ in one }) == participants)
  }
  for (seq, expected) in after.messages ?? [:] {
    let found = try known.messages[#require(Int(seq))]
    guard let expected else {
      #expect(found == nil)
      continue
    }
    #expect(try #require(found).message.content?.text == expected.text)
    if let actions = expected.actions {
      #expect(found?.message.content?.actions == ReducerCase.Actions.counts(actions))
    }
    if let mine = expected.mine { #expect(found?.mine == Set(mine)) }
  }
}
