// Writes to a store until it is killed and prints the results: "open", then "ack CLIENT_ID ID SEQ" for each message
// after the store has acknowledged it. Each writer changes its last messages: it prints "change CLIENT_ID CHANGE"
// before, and "changed CLIENT_ID REVISION" or "refused CLIENT_ID CODE" after it. Each send is a function of the
// client_id alone, so that the next process can repeat those that this one did not finish.
//
//     crash-writer FOLDER MIGRATIONS ROUND WRITERS [CLIENT_ID ...]
//
// The client_ids are sent first, each by two tasks at once, and are then distributed to the writers. With
// CRASH_WRITER_LIES=posts or =changes these are acknowledged before the commit, so that the tests can prove that they
// would notice.

import Glibc
import ParleyModel
import Storage
import TestSupport

/// A single write, so that lines are never torn. Exits once the pipe has no reader.
@Sendable func report(_ line: String) {
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
  return NewMessage(
    conversation: ID(3 + number % 3), author: ID(1 + writer % 2), clientID: clientID, text: Change.text(clientID))
}

let arguments = CommandLine.arguments
guard arguments.count >= 5, let round = UInt64(arguments[3]), let writers = Int(arguments[4]) else { exit(2) }
let again = Array(arguments.dropFirst(5))
let lies = getenv("CRASH_WRITER_LIES").map { String(cString: $0) }
let store = try Store(try DataFolder(arguments[1]), migrations: arguments[2], clock: milliseconds)
report("open")

struct Sent {
  let clientID: String
  let id: ID<Message>
}

/// Returns nil if the store refused the message.
@Sendable func send(_ clientID: String) async -> Sent? {
  let draft = message(clientID)
  do throws(Refusal) {
    let stored = try await store.write { tx throws(Refusal) in
      let stored = try tx.post(draft)
      guard lies == "posts" else { return stored }
      report("ack \(clientID) \(stored.id) \(stored.seq)")
      usleep(2_000)
      return stored
    }
    if lies != "posts" { report("ack \(clientID) \(stored.id) \(stored.seq)") }
    return Sent(clientID: clientID, id: stored.id)
  } catch {
    report("refused \(clientID) \(error.code)")
    return nil
  }
}

@Sendable func make(_ change: Change, _ sent: Sent) async {
  report("change \(sent.clientID) \(change)")
  do throws(Refusal) {
    let revision = try await store.write { tx throws(Refusal) in
      let revision = try change.make(sent.id, in: tx)
      guard lies == "changes" else { return revision }
      report("changed \(sent.clientID) \(revision)")
      usleep(2_000)
      return revision
    }
    if lies != "changes" { report("changed \(sent.clientID) \(revision)") }
  } catch {
    report("refused \(sent.clientID) \(error.code)")
  }
}

let repeated = await withTaskGroup(of: Sent?.self) { group in
  for clientID in again {
    for _ in 0..<2 { group.addTask { await send(clientID) } }
  }
  var repeated: [String: Sent] = [:]
  for await case let sent? in group { repeated[sent.clientID] = sent }
  return repeated
}
await withTaskGroup(of: Void.self) { group in
  for writer in 0..<writers {
    group.addTask {
      var random = Seeded(seed: round * 1_000 + UInt64(writer))
      var own = again.indices.filter { $0 % writers == writer }.compactMap { repeated[again[$0]] }
      for number in 1... {
        let name = "\(round).\(writer).\(number)"
        if let sent = await send(name) { own.append(sent) }
        own = own.suffix(4)
        for part in 0..<2 {
          guard let sent = own.randomElement(using: &random) else { continue }
          await make(Change(named: "\(name).\(part).\(number)", using: &random), sent)
        }
        // Repeats the send, like a client that lost the response.
        if number.isMultiple(of: 8) { _ = await send(name) }
      }
    }
  }
}
