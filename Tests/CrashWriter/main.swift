// Writes to a store until it is killed, and says on standard output what it was told: "open", then "ack CLIENT_ID ID SEQ"
// for each message, once the store has acknowledged it. What it sends is a function of the client_id alone, so the next
// one can repeat what this one did not live to see.
//
//     crash-writer FOLDER MIGRATIONS ROUND WRITERS [CLIENT_ID ...]
//
// The client_ids are what is to be repeated first, each by two at once. With CRASH_WRITER_LIES it acknowledges before the
// commit, so that the tests can prove that they would notice.

import Glibc
import Model
import Storage

/// One write, so that a line is there whole or not at all. Nobody reads any longer: nothing is left to do.
@Sendable func tell(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  if write(STDOUT_FILENO, bytes, bytes.count) != bytes.count { exit(1) }
}

@Sendable func milliseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}

/// The message of a client_id "ROUND.WRITER.NUMBER".
@Sendable func message(_ clientID: String) -> NewMessage {
  let parts = clientID.split(separator: ".").compactMap { Int($0) }
  let (writer, number) = (parts.dropFirst().first ?? 0, parts.last ?? 0)
  // Long ones fill the log, so that there are checkpoints to be killed in.
  let text = "seeds and weeds \(clientID)" + String(repeating: " rose", count: number % 2 * 1_600)
  return NewMessage(conversation: ID(3 + number % 3), author: ID(1 + writer % 2), clientID: clientID, text: text)
}

let arguments = CommandLine.arguments
guard arguments.count >= 5, let writers = Int(arguments[4]) else { exit(2) }
let round = arguments[3]
let lies = getenv("CRASH_WRITER_LIES") != nil
let store = try Store(try DataFolder(arguments[1]), migrations: arguments[2], clock: milliseconds)
tell("open")

@Sendable func send(_ clientID: String) async {
  let draft = message(clientID)
  do throws(Refusal) {
    let stored = try await store.write { tx throws(Refusal) in
      let stored = try tx.post(draft)
      guard lies else { return stored }
      tell("ack \(clientID) \(stored.id) \(stored.seq)")
      usleep(2_000)
      return stored
    }
    if !lies { tell("ack \(clientID) \(stored.id) \(stored.seq)") }
  } catch {
    tell("refused \(clientID) \(error.code)")
  }
}

await withTaskGroup(of: Void.self) { group in
  for clientID in arguments.dropFirst(5) {
    for _ in 0..<2 { group.addTask { await send(clientID) } }
  }
}
await withTaskGroup(of: Void.self) { group in
  for writer in 0..<writers {
    group.addTask {
      for number in 1... {
        await send("\(round).\(writer).\(number)")
        // A client that did not see the answer.
        if number.isMultiple(of: 8) { await send("\(round).\(writer).\(number)") }
      }
    }
  }
}
