import ParleyModel
import Testing

@testable import Storage

@Suite struct UnreadTests {
  @Test func `unread counts live messages of others, without copies, after the read position and the join`() throws {
    let meadow = try Meadow()
    for number in 1...4 { try meadow.post("message \(number)", by: Meadow.grace) }
    #expect(try meadow.reading.unread(of: Meadow.ada, in: Meadow.room) == 4)
    try meadow.join(Meadow.ada, Meadow.room, joinedSeq: 1)
    #expect(try meadow.reading.unread(of: Meadow.ada, in: Meadow.room) == 3)
    try meadow.mark(Meadow.ada, Meadow.room, read: 2)
    #expect(try meadow.reading.unread(of: Meadow.ada, in: Meadow.room) == 2)
    try meadow.post("mine", by: Meadow.ada)
    try meadow.post("for machines", by: Meadow.grace, isMachineOnly: true)
    try meadow.delete(try meadow.post("deleted", by: Meadow.grace))
    let copy = try meadow.post("copied", by: Meadow.grace)
    try meadow.connection.execute("update message set moved_from = 9 where id = $1", copy.number)
    #expect(try meadow.reading.unread(of: Meadow.ada, in: Meadow.room) == 2)
    #expect(try meadow.reading.unread(of: Meadow.alan, in: Meadow.room) == 5)
    #expect(try meadow.reading.unread(of: Meadow.ada, in: Meadow.lawn) == 0)
    #expect(try meadow.reading.unread(of: Meadow.ada, in: ID(77)) == 0)
  }

  @Test(arguments: ["mute", "block"]) func `messages of muted and blocked users are not unread`(
    relation: String
  ) throws {
    let meadow = try Meadow()
    try meadow.join(Meadow.ada, Meadow.room)
    for author in [Meadow.grace, Meadow.alan, Meadow.grace] { try meadow.post("seeds", by: author) }
    try meadow.connection.execute(
      "insert into relation (user_id, kind, other_id, created_at) values (1, $1, 2, 0), (3, $1, 1, 0)", relation)
    #expect(try meadow.reading.unread(of: Meadow.ada, in: Meadow.room) == 1)
    #expect(try meadow.reading.heads(of: Meadow.ada).map(\.unread) == [1])
    #expect(try meadow.reading.conversations([(Meadow.room, 1)], of: Meadow.ada).map(\.unread) == [1])
    #expect(try meadow.reading.unread(of: Meadow.grace, in: Meadow.room) == 1)
  }

  @Test func `unread counts stop at a thousand`() throws {
    let meadow = try Meadow()
    try meadow.join(Meadow.ada, Meadow.room)
    for number in 1...1_000 { try meadow.post("message \(number)", by: Meadow.grace) }
    #expect(try meadow.reading.unread(of: Meadow.ada, in: Meadow.room) == 1_000)
    try meadow.post("one more", by: Meadow.grace)
    #expect(try meadow.reading.heads(of: Meadow.ada).map(\.unread) == [1_000])
  }

  @Test func `conversation heads have last messages and unread counts`() throws {
    let meadow = try Meadow()
    let last = try meadow.post("seeds", by: Meadow.grace)
    try meadow.join(Meadow.ada, Meadow.room)
    try meadow.join(Meadow.ada, Meadow.lawn)
    #expect(
      try meadow.reading.heads(of: Meadow.ada) == [
        ConversationHead(
          conversation: Meadow.room, lastSeq: 1, lastMessage: last, lastOffset: 1, readSeq: 0, unread: 1),
        ConversationHead(
          conversation: Meadow.lawn, lastSeq: 0, lastMessage: nil, lastOffset: 0, readSeq: 0, unread: 0),
      ])
    try meadow.mark(Meadow.ada, Meadow.room, read: 1)
    #expect(try meadow.reading.heads(of: Meadow.ada).map(\.unread) == [0, 0])
    try meadow.connection.execute("update conversation set state = 'deleted' where id = $1", Meadow.lawn.number)
    #expect(try meadow.reading.heads(of: Meadow.ada).map(\.conversation) == [Meadow.room])
    #expect(try meadow.reading.heads(of: Meadow.grace) == [])
  }

  @Test func `a member with a later history start sees no earlier message`() throws {
    let meadow = try Meadow()
    try meadow.post("before", by: Meadow.grace)
    try meadow.join(Meadow.ada, Meadow.room, joinedSeq: 1, fromSeq: 2)
    #expect(try meadow.reading.heads(of: Meadow.ada).map(\.lastMessage) == [nil])
    let after = try meadow.post("after", by: Meadow.grace)
    let head = try #require(try meadow.reading.heads(of: Meadow.ada).first)
    #expect(head.lastMessage == after && head.lastSeq == 2 && head.unread == 1)
  }
}
