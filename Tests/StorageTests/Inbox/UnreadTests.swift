import ParleyModel
import Testing

@testable import Storage

@Suite struct UnreadTests {
  @Test func `unread counts live messages of others, without copies, after the read position and the join`() throws {
    let database = try RawDatabase()
    for number in 1...4 { try database.post("message \(number)", by: RawDatabase.grace) }
    #expect(try database.reading.unread(of: RawDatabase.ada, in: RawDatabase.room) == 4)
    try database.join(RawDatabase.ada, RawDatabase.room, joinedSeq: 1)
    #expect(try database.reading.unread(of: RawDatabase.ada, in: RawDatabase.room) == 3)
    try database.mark(RawDatabase.ada, RawDatabase.room, read: 2)
    #expect(try database.reading.unread(of: RawDatabase.ada, in: RawDatabase.room) == 2)
    try database.post("mine", by: RawDatabase.ada)
    try database.post("for machines", by: RawDatabase.grace, isMachineOnly: true)
    try database.delete(try database.post("deleted", by: RawDatabase.grace))
    let copy = try database.post("copied", by: RawDatabase.grace)
    try database.connection.execute("update message set moved_from = 9 where id = $1", copy.number)
    #expect(try database.reading.unread(of: RawDatabase.ada, in: RawDatabase.room) == 2)
    #expect(try database.reading.unread(of: RawDatabase.alan, in: RawDatabase.room) == 5)
    #expect(try database.reading.unread(of: RawDatabase.ada, in: RawDatabase.lawn) == 0)
    #expect(try database.reading.unread(of: RawDatabase.ada, in: ID(77)) == 0)
  }

  @Test(arguments: ["mute", "block"]) func `messages of muted and blocked users are not unread`(
    relation: String
  ) throws {
    let database = try RawDatabase()
    try database.join(RawDatabase.ada, RawDatabase.room)
    for author in [RawDatabase.grace, RawDatabase.alan, RawDatabase.grace] { try database.post("seeds", by: author) }
    try database.connection.execute(
      "insert into relation (user_id, kind, other_id, created_at) values (1, $1, 2, 0), (3, $1, 1, 0)", relation)
    #expect(try database.reading.unread(of: RawDatabase.ada, in: RawDatabase.room) == 1)
    #expect(try database.reading.heads(of: RawDatabase.ada).map(\.unread) == [1])
    #expect(try database.reading.conversations([(RawDatabase.room, 1)], of: RawDatabase.ada).map(\.unread) == [1])
    #expect(try database.reading.unread(of: RawDatabase.grace, in: RawDatabase.room) == 1)
  }

  @Test func `unread counts stop at a thousand`() throws {
    let database = try RawDatabase()
    try database.join(RawDatabase.ada, RawDatabase.room)
    for number in 1...1_000 { try database.post("message \(number)", by: RawDatabase.grace) }
    #expect(try database.reading.unread(of: RawDatabase.ada, in: RawDatabase.room) == 1_000)
    try database.post("one more", by: RawDatabase.grace)
    #expect(try database.reading.heads(of: RawDatabase.ada).map(\.unread) == [1_000])
  }

  @Test func `conversation heads have last messages and unread counts`() throws {
    let database = try RawDatabase()
    let last = try database.post("seeds", by: RawDatabase.grace)
    try database.join(RawDatabase.ada, RawDatabase.room)
    try database.join(RawDatabase.ada, RawDatabase.lawn)
    #expect(
      try database.reading.heads(of: RawDatabase.ada) == [
        ConversationHead(
          conversation: RawDatabase.room, lastSeq: 1, lastMessage: last, lastOffset: 1, readSeq: 0, unread: 1),
        ConversationHead(
          conversation: RawDatabase.lawn, lastSeq: 0, lastMessage: nil, lastOffset: 0, readSeq: 0, unread: 0),
      ])
    try database.mark(RawDatabase.ada, RawDatabase.room, read: 1)
    #expect(try database.reading.heads(of: RawDatabase.ada).map(\.unread) == [0, 0])
    try database.connection.execute("update conversation set state = 'deleted' where id = $1", RawDatabase.lawn.number)
    #expect(try database.reading.heads(of: RawDatabase.ada).map(\.conversation) == [RawDatabase.room])
    #expect(try database.reading.heads(of: RawDatabase.grace) == [])
  }

  @Test func `a member with a later history start sees no earlier message`() throws {
    let database = try RawDatabase()
    try database.post("before", by: RawDatabase.grace)
    try database.join(RawDatabase.ada, RawDatabase.room, joinedSeq: 1, fromSeq: 2)
    #expect(try database.reading.heads(of: RawDatabase.ada).map(\.lastMessage) == [nil])
    let after = try database.post("after", by: RawDatabase.grace)
    let head = try #require(try database.reading.heads(of: RawDatabase.ada).first)
    #expect(head.lastMessage == after && head.lastSeq == 2 && head.unread == 1)
  }
}
